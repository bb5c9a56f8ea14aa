// Tests chapter 4 of vow.h: then, catch, finally, and everything that a reaction can say.

import CVow
import XCTest

private func double(_ error: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(vow_error_code(error) * 2)
}

final class ChainingTests: CTest {
    func testThenRunsOnFulfilmentAndPassesARejection() {
        XCTAssertEqual(
            outcome(of: vow_then(vow_promise_with(vow_int(1)), addOne, nil)), .integer(2))
        XCTAssertEqual(outcome(of: vow_then(vow_promise_with(failure(9)), addOne, nil)), .error(9))
    }

    func testCatchRunsOnRejectionAndPassesAValue() {
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(failure(9)), double, nil)), .integer(18))
        XCTAssertEqual(
            outcome(of: vow_catch(vow_promise_with(vow_int(1)), double, nil)), .integer(1))
    }

    func testAHandlerThatReturnsAPromiseIsWaitedFor() {
        let end = vow_then(
            vow_promise_with(vow_int(1)),
            { input, _ in
                vow_from_promise(vow_then(vow_promise_with(vow_value_retain(input)), addOne, nil))
            }, nil)
        XCTAssertEqual(outcome(of: vow_then(end, addOne, nil)), .integer(3))
    }

    func testFinallyPassesTheOutcomeOnUnlessItRejects() {
        let journal = Journal()
        for (value, wanted) in [(vow_int(5), Outcome.integer(5)), (failure(5), .error(5))] {
            let end = vow_finally(vow_promise_with(value), note, pointer(to: journal))
            XCTAssertEqual(outcome(of: end), wanted)
        }
        XCTAssertEqual(journal.entries, [5, -5])
        let rejects = vow_finally(vow_promise_with(vow_int(5)), { _, _ in failure(6) }, nil)
        XCTAssertEqual(outcome(of: rejects), .error(6))
        let waits = vow_finally(
            vow_promise_with(vow_int(5)),
            { _, _ in vow_from_promise(vow_promise_with(failure(7))) }, nil)
        XCTAssertEqual(outcome(of: waits), .error(7))
    }
}
