// Tests chapter 2 of vow.h: errors and their codes.

import CVow
import XCTest

final class ErrorsTests: CTest {
    func testAnErrorHasDomainCodeMessageAndPayload() {
        let plain = vow_error("net", 404, "not found")
        XCTAssertEqual(plain.kind, VOW_ERROR)
        XCTAssertEqual(String(cString: vow_error_domain(plain)!), "net")
        XCTAssertEqual(vow_error_code(plain), 404)
        XCTAssertEqual(String(cString: vow_error_message(plain)!), "not found")
        XCTAssertEqual(vow_error_payload(plain).kind, VOW_NONE)
        let wrapped = vow_error_wrap("app", .min, nil, plain)
        XCTAssertEqual(String(cString: vow_error_message(wrapped)!), "")
        XCTAssertEqual(vow_error_code(wrapped), .min)
        XCTAssertEqual(vow_error_code(vow_error_payload(wrapped)), 404)
        vow_value_release(wrapped)
    }
}
