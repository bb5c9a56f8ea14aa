// Tests chapter 12 of vow.h: who is told of a rejection that nobody observed.

import CVow
import XCTest

final class UnhandledTests: CTest {
    private let reports = Journal()

    override func setUp() {
        super.setUp()
        vow_on_unhandled(
            { error, context in context!.object(Journal.self).write(Int(vow_error_code(error))) },
            pointer(to: reports))
    }

    override func tearDown() {
        vow_on_unhandled(nil, nil)
        super.tearDown()
    }

    func testG10_aRejectionNobodyObservedIsReportedOnce() {
        let promise = vow_promise_with(failure(3))
        _ = vow_promise_retain(promise)
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [])
        vow_promise_release(promise)
        XCTAssertEqual(reports.entries, [3])
    }
}
