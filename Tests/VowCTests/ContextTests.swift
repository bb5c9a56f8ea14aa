// Tests chapter 11 of vow.h, sentence by sentence.

import CVow
import XCTest

/// Returns the context that it runs with.
private func read(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_value_retain(vow_context_get())
}

final class ContextTests: CTest {
    override func tearDown() {
        vow_context_set(vow_none())
        super.tearDown()
    }

    func testEachReactionGetsTheValueThatWasSetWhereItWasMadeAndRunsWithIt() {
        for executor in [vow_executor_inline(), vow_executor_pool()] {
            let (promise, resolver) = create()
            vow_context_set(vow_int(1))
            let first = link(vow_promise_retain(promise)!, on: executor, fulfilled: read)
            vow_context_set(vow_int(2))
            let second = link(promise, on: executor, rejected: nil)
            let third = link(second, on: executor, fulfilled: read)
            vow_context_set(vow_int(3))
            finish(resolver, vow_none())
            XCTAssertEqual(outcome(of: first), .integer(1))
            XCTAssertEqual(outcome(of: third), .integer(2))
        }
    }
}
