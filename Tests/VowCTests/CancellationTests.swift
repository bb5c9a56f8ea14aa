// Tests that chapter 9 of vow.h is there for Swift: cancelling, hooks, sources and tokens.

import CVow
import XCTest

private let cancelled = Outcome.error(Int64(VOW_ECANCELLED))

/// Counts calls and ends of a hook.
private final class Calls {
    let journal = Journal()
}

private func called(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(1)
}

private func ended(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(-1)
}

final class CancellationTests: CTest {
    private let calls = Calls()
    private var entries: [Int] { calls.journal.entries }

    func testCancellingAPromiseRejectsItAtOnce() {
        let (promise, resolver) = create()
        XCTAssertTrue(vow_cancel(promise))
        XCTAssertEqual(vow_promise_state(promise), VOW_REJECTED)
        XCTAssertEqual(outcome(of: promise), cancelled)
        vow_resolver_release(resolver)
    }

    func testATokensHookIsCalledOnceOrAtOnceIfItIsCancelledAlready() {
        let source = vow_cancel_source_create()!
        let token = vow_cancel_source_token(source)!
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        vow_cancel_source_cancel(source)
        XCTAssertEqual(entries, [1, -1])
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        XCTAssertEqual(entries, [1, -1, 1, -1])
        vow_cancel_source_release(source)
    }
}
