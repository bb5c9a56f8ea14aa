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

    func testAPromiseOfAValueFollowsItsKind() {
        XCTAssertEqual(outcome(of: vow_promise_with(vow_int(3))), .integer(3))
        XCTAssertEqual(outcome(of: vow_promise_with(failure(4))), .error(4))
        XCTAssertEqual(outcome(of: vow_promise_with(vow_list(nil, 0))), .other(VOW_LIST))
        let promise = vow_promise_with(vow_int(5))
        XCTAssertEqual(vow_promise_with(vow_from_promise(promise)), promise)
        vow_promise_release(promise)
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
