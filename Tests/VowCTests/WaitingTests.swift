// Tests chapter 5 of vow.h: waiting, and G11.

import CVow
import XCTest

/// A wait inside a handler: for what, and how it ended.
private final class Wait {
    var promise: OpaquePointer?
    var results: [Int32] = []
    /// Sent when `promise` is there.
    let isReady = Signal()
}

private func waitInside(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let wait = context!.object(Wait.self)
    wait.isReady.receive()
    wait.results.append(vow_await(wait.promise!, forever, nil))
    return vow_none()
}

final class WaitingTests: CTest {
    func testASettledPromiseAnswersAtOnceWithAnOwnedValue() {
        let promise = vow_promise_with(vow_string("kept", 4))
        var value = vow_none()
        XCTAssertEqual(vow_await(promise, 0, &value), Int32(VOW_FULFILLED))
        vow_promise_release(promise)
        XCTAssertEqual(vow_string_bytes(value, nil).map { String(cString: $0) }, "kept")
        vow_value_release(value)
    }

    func testWrongArgumentsAreRefused() {
        var value = vow_int(1)
        let promise = vow_promise_with(vow_none())
        for timeout in [Int64(-2), Int64.min] {
            XCTAssertEqual(vow_await(promise, timeout, &value), VOW_EINVAL)
            XCTAssertEqual(value.kind, VOW_NONE)
        }
        vow_promise_release(promise)
    }

    func testG11_aWaitEndsBySettlingFromAnotherThread() {
        for timeout in [forever, oneMinute, Int64.max] {
            let (promise, resolver) = create()
            let worker = Worker {
                usleep(2000)
                finish(resolver, vow_int(6))
            }
            var value = vow_none()
            XCTAssertEqual(vow_await(promise, timeout, &value), Int32(VOW_FULFILLED))
            XCTAssertEqual(value.as.integer, 6)
            worker.join()
            vow_promise_release(promise)
        }
    }

    func testG11_aWaitThatBlocksWhatItWaitsForIsRefused() {
        let serial = vow_executor_serial(nil)!
        // A handler that waits for itself, anywhere; and one for the next on its serial queue.
        for executor in [vow_executor_pool(), serial] {
            let own = Wait()
            own.promise = vow_async(executor, waitInside, pointer(to: own))
            own.isReady.send()
            XCTAssertEqual(outcome(of: own.promise!), .other(VOW_NONE))
            XCTAssertEqual(own.results, [VOW_EDEADLOCK])
        }
        let next = Wait()
        let first = vow_async(serial, waitInside, pointer(to: next))
        next.promise = link(vow_promise_with(vow_none()), on: serial, fulfilled: pass)
        next.isReady.send()
        XCTAssertEqual(outcome(of: first), .other(VOW_NONE))
        XCTAssertEqual(next.results, [VOW_EDEADLOCK])
        XCTAssertEqual(outcome(of: next.promise!), .other(VOW_NONE))
        vow_executor_release(serial)
    }
}
