// Tests chapter 3 of vow.h: reading and settling.

import CVow
import XCTest

final class PromisesTests: CTest {
    func testAPromiseIsPendingThenSettledForEver() {
        let (promise, resolver) = create()
        var value = vow_int(1)
        XCTAssertEqual(vow_promise_state(promise), VOW_PENDING)
        XCTAssertFalse(vow_promise_peek(promise, &value))
        XCTAssertEqual(value.kind, VOW_NONE)
        XCTAssertTrue(vow_resolve(resolver, vow_int(5)))
        XCTAssertEqual(vow_promise_state(promise), VOW_FULFILLED)
        XCTAssertTrue(vow_promise_peek(promise, &value))
        XCTAssertEqual(value.as.integer, 5)
        XCTAssertTrue(vow_promise_peek(promise, nil))
        vow_resolver_release(resolver)
        XCTAssertEqual(vow_promise_state(promise), VOW_FULFILLED)
        vow_promise_release(promise)
    }

    func testG1_theFirstToResolveOrRejectWins() {
        let (promise, resolver) = create()
        XCTAssertTrue(vow_resolve(resolver, vow_int(1)))
        XCTAssertFalse(vow_resolve(resolver, vow_string("late", 4)))
        XCTAssertFalse(vow_reject(resolver, failure(2)))
        XCTAssertFalse(finish(resolver, vow_error("late", 3, "late")))
        XCTAssertEqual(outcome(of: promise), .integer(1))
    }

    func testG1_ofManyThreadsOneWinsAndItsValueStays() {
        for _ in 0..<200 {
            let (promise, resolver) = create()
            let winners = Journal()
            onThreads(4) { index in
                let value = index % 2 == 0 ? vow_int(Int64(index)) : failure(Int64(index))
                let won =
                    index < 2 ? vow_resolve(resolver, value) : vow_reject(resolver, value)
                if won { winners.write(index) }
            }
            vow_resolver_release(resolver)
            XCTAssertEqual(winners.entries.count, 1)
            let winner = Int64(winners.entries[0])
            // vow_reject makes the integer 2 the reason of an error.
            let wanted: Outcome =
                winner == 0 ? .integer(0) : .error(winner == 2 ? Int64(VOW_EREASON) : winner)
            XCTAssertEqual(outcome(of: promise), wanted)
        }
    }

    func testG1_resolvedWithAPendingPromiseIsNotSettled() {
        let (inner, innerResolver) = create()
        let (outer, outerResolver) = create()
        XCTAssertTrue(vow_resolve(outerResolver, vow_from_promise(inner)))
        XCTAssertEqual(vow_promise_state(outer), VOW_PENDING)
        XCTAssertFalse(finish(outerResolver, vow_int(1)))
        XCTAssertTrue(finish(innerResolver, vow_int(2)))
        XCTAssertEqual(outcome(of: outer), .integer(2))
    }

    func testAPromiseOfAValueFollowsItsKind() {
        XCTAssertEqual(outcome(of: vow_promise_with(vow_int(3))), .integer(3))
        XCTAssertEqual(outcome(of: vow_promise_with(failure(4))), .error(4))
        XCTAssertEqual(outcome(of: vow_promise_with(vow_list(nil, 0))), .other(VOW_LIST))
        let promise = vow_promise_with(vow_int(5))
        XCTAssertEqual(vow_promise_with(vow_from_promise(promise)), promise)
        vow_promise_release(promise)
    }

    func testHandlesAreCountedApart() {
        let (promise, resolver) = create()
        XCTAssertEqual(vow_promise_retain(promise), promise)
        XCTAssertEqual(vow_resolver_retain(resolver), resolver)
        vow_promise_release(promise)
        vow_resolver_release(resolver)
        XCTAssertTrue(finish(resolver, vow_int(1)))
        XCTAssertEqual(outcome(of: promise), .integer(1))
    }

    func testRetainingAndReleasingNothingDoesNothing() {
        XCTAssertNil(vow_promise_retain(nil))
        XCTAssertNil(vow_resolver_retain(nil))
        XCTAssertNil(vow_executor_retain(nil))
        vow_promise_release(nil)
        vow_resolver_release(nil)
        vow_executor_release(nil)
    }

    func testG9_theLastResolverBreaksAnUnresolvedPromise() {
        let (promise, resolver) = create()
        _ = vow_resolver_retain(resolver)
        vow_resolver_release(resolver)
        XCTAssertEqual(vow_promise_state(promise), VOW_PENDING)
        vow_resolver_release(resolver)
        XCTAssertEqual(vow_promise_state(promise), VOW_REJECTED)
        XCTAssertEqual(outcome(of: promise), .error(Int64(VOW_EBROKEN)))
    }

    func testG9_aBrokenPromiseReachesTheEndOfItsChain() {
        let (promise, resolver) = create()
        let journal = Journal()
        let end = link(
            link(promise, context: pointer(to: journal), fulfilled: note),
            context: pointer(to: journal), rejected: note)
        vow_resolver_release(resolver)
        XCTAssertEqual(outcome(of: end), .error(Int64(VOW_EBROKEN)))
        XCTAssertEqual(journal.entries, [Int(-VOW_EBROKEN)])
    }

    func testG9_aPromiseResolvedWithAnotherIsNotBrokenByItsResolver() {
        let (inner, innerResolver) = create()
        let (outer, outerResolver) = create()
        finish(outerResolver, vow_from_promise(inner))
        XCTAssertEqual(vow_promise_state(outer), VOW_PENDING)
        vow_resolver_release(innerResolver)
        XCTAssertEqual(outcome(of: outer), .error(Int64(VOW_EBROKEN)))
    }

    func testAPromiseResolvedWithItselfIsACycle() {
        let (promise, resolver) = create()
        XCTAssertTrue(finish(resolver, vow_from_promise(vow_promise_retain(promise)!)))
        XCTAssertEqual(outcome(of: promise), .error(Int64(VOW_ECYCLE)))
    }

    func testAThenableDecides() {
        withClass(subscribe: { _, resolver in finish(resolver, vow_int(11)) }) { cls in
            XCTAssertEqual(outcome(of: vow_promise_with(vow_object(nil, cls))), .integer(11))
        }
        withClass(subscribe: { _, resolver in
            vow_resolver_release(resolver)
            return false
        }) { cls in
            XCTAssertEqual(outcome(of: vow_promise_with(vow_object(nil, cls))), .other(VOW_OBJECT))
        }
    }
}
