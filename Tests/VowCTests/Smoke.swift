import XCTest
import CVow
final class Smoke: XCTestCase { func testA() { XCTAssertEqual(vow_version(), UInt32(VOW_VERSION)) } }
