import XCTest
@testable import VowCore
final class Smoke: XCTestCase { func testA() { XCTAssertEqual(MemoryLayout<Record>.size, 40) } }
