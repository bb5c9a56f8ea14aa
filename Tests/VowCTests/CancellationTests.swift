// Tests chapter 9 of vow.h, sentence by sentence.

import CVow
import XCTest

private let cancelled = Outcome.error(Int64(VOW_ECANCELLED))

/// Counts calls and ends of a hook or a reaction.
private final class Calls {
    let journal = Journal()
    var promise: OpaquePointer!
    var source: OpaquePointer!
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

    private func watch(_ resolver: OpaquePointer) {
        XCTAssertEqual(vow_resolver_on_cancel(resolver, called, pointer(to: calls), ended), 0)
    }

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

    func testItGoesOnUpstreamUpToTheProducerWhichMayHaveAskedToBeTold() {
        let (promise, resolver) = create()
        watch(resolver)
        let end = link(link(promise, fulfilled: pass), fulfilled: pass)
        XCTAssertTrue(vow_cancel(end))
        XCTAssertEqual(entries, [1, -1])
        XCTAssertFalse(finish(resolver, vow_none()))
        vow_promise_release(end)
    }

    func testAPromiseThatSomebodyElseHoldsOrHasAReactionOnIsNotCancelled() {
        for isHeld in [true, false] {
            let (promise, resolver) = create()
            let other =
                isHeld
                ? vow_promise_retain(promise)!
                : link(vow_promise_retain(promise)!, fulfilled: pass)
            let end = link(promise, fulfilled: pass)
            XCTAssertTrue(vow_cancel(end))
            finish(resolver, vow_int(1))
            XCTAssertEqual(outcome(of: other), .integer(1))
            vow_promise_release(end)
        }
    }

    func testReleasingAHandleCancelsNoReaction() {
        let (promise, resolver) = create()
        vow_promise_release(link(promise, context: pointer(to: calls), fulfilled: handle))
        finish(resolver, vow_int(1))
        XCTAssertEqual(entries, [1])
    }

    func testAPromiseThatNoHandleAndNoReactionIsLeftToReadTellsItsProducer() {
        let (promise, resolver) = create()
        watch(resolver)
        vow_promise_release(promise)
        XCTAssertEqual(entries, [1, -1])
        XCTAssertTrue(finish(resolver, vow_none()))
    }

    func testARejectionWithECancelledIsNothingToReportAsUnhandled() {
        let reports = Journal()
        vow_on_unhandled(
            { _, context in context!.object(Journal.self).write(1) }, pointer(to: reports))
        let (promise, resolver) = create()
        vow_cancel(promise)
        vow_promise_release(promise)
        vow_resolver_release(resolver)
        vow_on_unhandled(nil, nil)
        XCTAssertEqual(reports.entries, [])
    }

    // MARK: vow_cancel, vow_cancel_with

    func testG1_trueIfThisCallDidItAndFalseWithNoEffectIfItWasSettled() {
        let settled = vow_promise_with(vow_int(1))
        XCTAssertFalse(vow_cancel(settled))
        XCTAssertEqual(outcome(of: settled), .integer(1))
        let (promise, resolver) = create()
        XCTAssertTrue(vow_cancel(promise))
        XCTAssertFalse(vow_cancel(promise))
        vow_promise_release(promise)
        vow_resolver_release(resolver)
    }

    func testHandlersThatHaveNotBegunNeverWill() {
        let (promise, resolver) = create()
        let end = link(
            vow_promise_retain(promise)!, context: pointer(to: calls), fulfilled: handle,
            rejected: handle)
        vow_cancel(end)
        finish(resolver, vow_none())
        XCTAssertEqual(entries, [])
        vow_promise_release(end)
        vow_promise_release(promise)
    }

    func testOneThatIsRunningEndsAndItsResultIsReleased() {
        calls.promise = link(
            promiseOfTheCalls(calls), on: vow_executor_pool(), context: pointer(to: calls),
            fulfilled: { _, context in
                let calls = context!.object(Calls.self)
                XCTAssertTrue(vow_cancel(calls.promise))
                XCTAssertEqual(vow_promise_state(calls.promise), VOW_REJECTED)
                calls.journal.write(1)
                return vow_string("for nobody", 10)
            })
        vow_resolve(calls.source, vow_none())
        vow_resolver_release(calls.source)
        XCTAssertEqual(outcome(of: calls.promise!), cancelled)
        eventually("the handler ends") { self.entries == [1] }
    }

    /// A pending promise whose resolver the calls keep.
    private func promiseOfTheCalls(_ calls: Calls) -> OpaquePointer {
        let (promise, resolver) = create()
        calls.source = resolver
        return promise
    }

    func testG3_aContextIsDestroyedByThisCallOrWhenTheHandlerIsThroughWithIt() {
        let (promise, resolver) = create()
        let waiting = link(
            vow_promise_retain(promise)!, context: pointer(to: calls), destroy: ended,
            fulfilled: handle)
        vow_cancel(waiting)
        XCTAssertEqual(entries, [-1])
        calls.promise = link(
            promise, context: pointer(to: calls), destroy: ended,
            fulfilled: { _, context in
                let calls = context!.object(Calls.self)
                vow_cancel(calls.promise)
                XCTAssertEqual(calls.journal.entries, [-1])
                return vow_none()
            })
        finish(resolver, vow_none())
        XCTAssertEqual(entries, [-1, -1])
        vow_promise_release(waiting)
        vow_promise_release(calls.promise)
    }

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

    func testTheHookIsCalledOnceOnTheThreadThatCancelsAsItsLastAct() {
        let (promise, resolver) = create()
        calls.promise = link(promise, fulfilled: pass)
        XCTAssertEqual(
            vow_resolver_on_cancel(
                resolver,
                { context in
                    let calls = context!.object(Calls.self)
                    XCTAssertEqual(vow_promise_state(calls.promise), VOW_REJECTED)
                    calls.journal.write(1)
                }, pointer(to: calls), nil), 0)
        Worker { [calls] in
            XCTAssertTrue(vow_cancel(calls.promise))
            XCTAssertEqual(calls.journal.threads, [pthread_self()])
        }.join()
        XCTAssertEqual(entries, [1])
        vow_promise_release(calls.promise)
        vow_resolver_release(resolver)
    }

    func testItIsCalledAtOnceIfItIsTooLateAlready() {
        let (promise, resolver) = create()
        vow_cancel(promise)
        watch(resolver)
        XCTAssertEqual(entries, [1, -1])
        vow_promise_release(promise)
        vow_resolver_release(resolver)
        let (unread, other) = create()
        vow_promise_release(unread)
        watch(other)
        XCTAssertEqual(entries, [1, -1, 1, -1])
        vow_resolver_release(other)
    }

    func testItIsNotCalledAfterThePromiseWasResolved() {
        for value in [vow_int(1), failure(1), vow_error("vow", Int64(VOW_ECANCELLED), nil)] {
            let (promise, resolver) = create()
            watch(resolver)
            vow_resolve(resolver, value)
            vow_cancel(promise)
            watch(resolver)
            vow_resolver_release(resolver)
            _ = outcome(of: promise)
        }
        XCTAssertEqual(entries, [-1, -1, -1, -1, -1, -1])
    }

    func testG3_inEveryCaseDestroyRunsExactlyOnce() {
        let (promise, resolver) = create()
        watch(resolver)
        vow_resolver_release(resolver)
        XCTAssertEqual(entries, [-1])
        _ = outcome(of: promise)
    }

    func testSeveralAreCalledInTheOrderInWhichTheyWereGiven() {
        let (promise, resolver) = create()
        let notes = (0..<4).map { _ in Calls() }
        for note in notes {
            note.promise = pointerOf(calls)
            XCTAssertEqual(
                vow_resolver_on_cancel(
                    resolver,
                    { context in
                        let note = context!.object(Calls.self)
                        let all = UnsafeMutableRawPointer(note.promise).object(Calls.self)
                        all.journal.write(all.journal.entries.count)
                        note.journal.write(all.journal.entries.count)
                    }, pointer(to: note), nil), 0)
        }
        vow_cancel(promise)
        XCTAssertEqual(notes.map { $0.journal.entries }, [[1], [2], [3], [4]])
        vow_promise_release(promise)
        vow_resolver_release(resolver)
    }

    private func pointerOf(_ calls: Calls) -> OpaquePointer { OpaquePointer(pointer(to: calls)) }

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
        // Rejection handlers get VOW_ECANCELLED at once.
        XCTAssertEqual(vow_promise_state(failing), VOW_FULFILLED)
        // The promises upstream are left alone.
        XCTAssertEqual(vow_promise_state(promise), VOW_PENDING)
        finish(resolver, vow_int(1))
        XCTAssertEqual(entries, [])
        XCTAssertEqual(outcome(of: success), cancelled)
        XCTAssertEqual(outcome(of: failing), .integer(Int64(VOW_ECANCELLED)))
        XCTAssertEqual(outcome(of: promise), .integer(1))
        vow_cancel_source_release(source)
    }

    func testAHandlerThatIsRunningEndsAndItsPromiseIsCancelled() {
        calls.source = vow_cancel_source_create()!
        let end = reaction(
            vow_promise_with(vow_none()), vow_cancel_source_token(calls.source),
            fulfilled: { _, context in
                let calls = context!.object(Calls.self)
                XCTAssertTrue(vow_cancel_source_cancel(calls.source))
                calls.journal.write(1)
                return vow_int(1)
            })
        XCTAssertEqual(outcome(of: end), cancelled)
        XCTAssertEqual(entries, [1])
        vow_cancel_source_release(calls.source)
    }

    func testAReactionThatIsThroughHasLeftItsToken() {
        let source = vow_cancel_source_create()!
        let end = reaction(
            vow_promise_with(vow_int(1)), vow_cancel_source_token(source), fulfilled: handle)
        XCTAssertTrue(vow_cancel_source_cancel(source))
        XCTAssertEqual(outcome(of: end), .integer(1))
        vow_cancel_source_release(source)
    }

    func testOneThatIsMadeWithACancelledTokenIsCancelledAtOnce() {
        let source = vow_cancel_source_create()!
        vow_cancel_source_cancel(source)
        let (promise, resolver) = create()
        let end = reaction(promise, vow_cancel_source_token(source), fulfilled: handle)
        XCTAssertEqual(outcome(of: end), cancelled)
        vow_resolver_release(resolver)
        vow_cancel_source_release(source)
        XCTAssertEqual(entries, [])
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

    func testAfterTheLastSourceIsGoneWhatWasRegisteredStaysAsItIs() {
        let source = vow_cancel_source_create()!
        let (promise, resolver) = create()
        let end = reaction(promise, vow_cancel_source_token(source), fulfilled: handle)
        XCTAssertEqual(vow_cancel_source_retain(source), source)
        vow_cancel_source_release(source)
        vow_cancel_source_release(source)
        finish(resolver, vow_int(2))
        XCTAssertEqual(outcome(of: end), .integer(2))
        XCTAssertEqual(entries, [1])
    }

    func testTrueTheFirstTimeElseFalseWithoutEffect() {
        let source = vow_cancel_source_create()!
        XCTAssertTrue(vow_cancel_source_cancel_with(source, vow_int(1)))
        XCTAssertFalse(vow_cancel_source_cancel_with(source, vow_string("late", 4)))
        XCTAssertEqual(vow_token_reason(vow_cancel_source_token(source)).as.integer, 1)
        vow_cancel_source_release(source)
    }

    func testATokenLivesAsLongAsItsSourceOrLongerWhenRetained() {
        let source = vow_cancel_source_create()!
        let token = vow_token_retain(vow_cancel_source_token(source)!)!
        vow_cancel_source_cancel_with(source, vow_string("why", 3))
        vow_cancel_source_release(source)
        XCTAssertTrue(vow_token_is_cancelled(token))
        let reason = vow_token_reason(token)
        XCTAssertEqual(reason.kind, VOW_STRING)
        vow_token_release(token)
        vow_value_release(reason)
        XCTAssertNil(vow_cancel_source_token(nil))
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

    func testG3_aTokensHookIsDestroyedWhenItIsCertainThatNobodyCanCancelAnyMore() {
        let source = vow_cancel_source_create()!
        let token = vow_token_retain(vow_cancel_source_token(source)!)!
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        vow_cancel_source_release(source)
        XCTAssertEqual(entries, [-1])
        XCTAssertEqual(vow_token_on_cancel(token, called, pointer(to: calls), ended), 0)
        XCTAssertEqual(entries, [-1, -1])
        vow_token_release(token)
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

    // MARK: Depth and races

    func testG6_aChainOfAMillionLinksIsCancelledOnASmallStack() {
        Worker(stack: 64 * 1024) {
            let (promise, resolver) = create()
            var end = promise
            for _ in 0..<1_000_000 { end = vow_then(end, addOne, nil) }
            XCTAssertTrue(vow_cancel(end))
            XCTAssertEqual(outcome(of: end), cancelled)
            XCTAssertFalse(finish(resolver, vow_int(0)))
        }.join()
    }

    func testG12_cancellingAndResolvingAtOnceOneWins() {
        for _ in 0..<300 {
            let (promise, resolver) = create()
            let end = vow_then(vow_promise_retain(promise)!, addOne, nil)
            let wins = Counter()
            onThreads(3) { index in
                switch index {
                case 0: if vow_cancel(promise) { wins.add() }
                case 1: if finish(resolver, vow_int(1)) { wins.add() }
                default: vow_cancel(end)
                }
            }
            XCTAssertEqual(wins.value, 1)
            _ = outcome(of: end)
            _ = outcome(of: promise)
        }
    }
}
