// Tests that Swift and C have the same promise, and not one for each other.

import CVow
import XCTest

@testable import Vow

final class SharedRecordTests: VowTest {
    func testAPromiseOfCIsChainedInSwiftAndAwaitedInC() throws {
        var resolver: OpaquePointer?
        let promise = Promise<Int, any Error>(owned: vow_promise_create(&resolver))
        let next = promise.map { $0 + 1 }
        _ = vow_resolve(try XCTUnwrap(resolver), vow_int(41))
        vow_resolver_release(resolver)
        var answer = vow_none()
        let state = next.withPointer { vow_await($0, Int64(VOW_FOREVER), &answer) }
        XCTAssertEqual(state, Int32(VOW_FULFILLED))
        XCTAssertEqual(answer.as.integer, 42)
        vow_value_release(answer)
    }

    func testGoingThroughCMakesNoOtherPromise() {
        let promise = Promise<String, any Error>.value("a")
        XCTAssertEqual(Promise<String, any Error>(owned: promise.retainedPointer()), promise)
    }
}
