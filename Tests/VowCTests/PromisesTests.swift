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
