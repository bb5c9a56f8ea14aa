// Tests that chapter 9 of vow.h is there for Swift: cancelling, hooks, sources and tokens.

import CVow
import XCTest

private let cancelled = Outcome.error(Int64(VOW_ECANCELLED))

/// Counts calls and ends of a hook or a reaction.
private final class Calls {
    let journal = Journal()
    var promise: OpaquePointer!
}

private func called(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(1)
}

private func ended(_ context: UnsafeMutableRawPointer?) {
    context!.object(Calls.self).journal.write(-1)
}

private func handle(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    context!.object(Calls.self).journal.write(1)
    return vow_value_retain(input)
}

final class CancellationTests: CTest {
    private let calls = Calls()
    private var entries: [Int] { calls.journal.entries }

    private func reaction(
        _ promise: OpaquePointer, _ token: OpaquePointer?, fulfilled: vow_handler? = nil,
        rejected: vow_handler? = nil
    ) -> OpaquePointer {
        var reaction = vow_reaction()
        reaction.size = MemoryLayout<vow_reaction>.size
        reaction.on_fulfilled = fulfilled
        reaction.on_rejected = rejected
        reaction.context = pointer(to: calls)
        reaction.executor = vow_executor_inline()
        reaction.token = token
        return vow_then_with(promise, &reaction)
    }

    // MARK: The chapter's introduction

    func testCancellingAPromiseRejectsItAtOnce() {
        let (promise, resolver) = create()
        XCTAssertTrue(vow_cancel(promise))
        XCTAssertEqual(vow_promise_state(promise), VOW_REJECTED)
        XCTAssertEqual(outcome(of: promise), cancelled)
        vow_resolver_release(resolver)
    }

    // MARK: vow_cancel, vow_cancel_with

    func testTheReasonIsThePayloadOfTheError() {
        let (promise, resolver) = create()
        XCTAssertTrue(vow_cancel_with(promise, vow_int(42)))
        var error = vow_none()
        XCTAssertTrue(vow_promise_peek(promise, &error))
        XCTAssertEqual(vow_error_code(error), Int64(VOW_ECANCELLED))
        XCTAssertEqual(vow_error_payload(error).as.integer, 42)
        XCTAssertFalse(vow_cancel_with(promise, vow_string("late", 4)))
        vow_promise_release(promise)
        vow_resolver_release(resolver)
    }

    // MARK: vow_resolver_on_cancel

    func testTheHookIsCalledOnceOnTheThreadThatCancelsAndBeforeContextsBelow() {
        let (promise, resolver) = create()
        calls.promise = link(promise, fulfilled: pass)
        XCTAssertEqual(
            vow_resolver_on_cancel(
                resolver,
                { context in
                    let calls = context!.object(Calls.self)
                    // The context of the link is alive still, and so it has not settled.
                    XCTAssertEqual(vow_promise_state(calls.promise), VOW_PENDING)
                    calls.journal.write(1)
                }, pointer(to: calls), nil), 0)
        Worker { [calls] in
            XCTAssertTrue(vow_cancel(calls.promise))
            XCTAssertEqual(vow_promise_state(calls.promise), VOW_REJECTED)
            XCTAssertEqual(calls.journal.threads, [pthread_self()])
        }.join()
        XCTAssertEqual(entries, [1])
        vow_promise_release(calls.promise)
        vow_resolver_release(resolver)
    }

    // MARK: Sources and tokens

    func testCancellingUnregistersThemAll() {
        let source = vow_cancel_source_create()!
        let token = vow_cancel_source_token(source)!
        let (promise, resolver) = create()
        let success = reaction(vow_promise_retain(promise)!, token, fulfilled: handle)
        let failing = reaction(
            vow_promise_retain(promise)!, token,
            rejected: { error, _ in vow_int(vow_error_code(error)) })
        XCTAssertTrue(vow_cancel_source_cancel(source))
        // Success handlers never run; one without a rejection handler is rejected.
        XCTAssertEqual(vow_promise_state(success), VOW_REJECTED)
        // Rejection handlers get VOW_ECANCELLED at once; what they recover with is for nobody.
        XCTAssertEqual(vow_promise_state(failing), VOW_REJECTED)
        // The promises upstream are left alone.
        XCTAssertEqual(vow_promise_state(promise), VOW_PENDING)
        finish(resolver, vow_int(1))
        XCTAssertEqual(entries, [])
        XCTAssertEqual(outcome(of: success), cancelled)
        XCTAssertEqual(outcome(of: failing), cancelled)
        XCTAssertEqual(outcome(of: promise), .integer(1))
        vow_cancel_source_release(source)
    }

    func testALinkedSourceIsCancelledWhenOneOfTheOthersIsWithThatOnesReason() {
        let parents = [vow_cancel_source_create()!, vow_cancel_source_create()!]
        let tokens = [
            vow_cancel_source_token(parents[0]), nil, vow_cancel_source_token(parents[1]),
        ]
        let child = vow_cancel_source_create_linked(tokens, tokens.count)!
        XCTAssertFalse(vow_token_is_cancelled(vow_cancel_source_token(child)))
        vow_cancel_source_cancel_with(parents[1], vow_int(3))
        XCTAssertTrue(vow_token_is_cancelled(vow_cancel_source_token(child)))
        XCTAssertEqual(vow_token_reason(vow_cancel_source_token(child)).as.integer, 3)
        XCTAssertFalse(vow_token_is_cancelled(tokens[0]))
        for source in parents + [child] { vow_cancel_source_release(source) }
    }

    func testTrueTheFirstTimeElseFalseWithoutEffect() {
        let source = vow_cancel_source_create()!
        XCTAssertTrue(vow_cancel_source_cancel_with(source, vow_int(1)))
        XCTAssertFalse(vow_cancel_source_cancel_with(source, vow_string("late", 4)))
        XCTAssertEqual(vow_token_reason(vow_cancel_source_token(source)).as.integer, 1)
        vow_cancel_source_release(source)
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

    func testATokenThatIsNotCancelledOrNullHasNoReason() {
        let source = vow_cancel_source_create()!
        let token = vow_cancel_source_token(source)!
        XCTAssertFalse(vow_token_is_cancelled(token))
        XCTAssertEqual(vow_token_reason(token).kind, VOW_NONE)
        XCTAssertFalse(vow_token_is_cancelled(nil))
        XCTAssertEqual(vow_token_reason(nil).kind, VOW_NONE)
        vow_cancel_source_release(source)
    }
}
