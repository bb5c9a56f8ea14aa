// Tests chapter 5 of vow.h: waiting, and G11.

import CVow
import XCTest

/// A wait inside a handler: for what, and how it ended.
private final class Wait {
    var promise: OpaquePointer?
    var results: [Int32] = []
    /// Sent when `promise` is there.
    let isReady = Signal()
    let blocking = Signal()
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

    func testG11_aWaitEndsByABrokenPromise() {
        let (promise, resolver) = create()
        let worker = Worker {
            usleep(2000)
            vow_resolver_release(resolver)
        }
        var value = vow_none()
        XCTAssertEqual(vow_await(promise, forever, &value), Int32(VOW_REJECTED))
        XCTAssertEqual(vow_error_code(value), Int64(VOW_EBROKEN))
        vow_value_release(value)
        worker.join()
        vow_promise_release(promise)
    }

    func testG11_aWaitEndsWhenTheTimeIsUpAndNotBefore() {
        let (promise, resolver) = create()
        var value = vow_int(1)
        for milliseconds in [UInt64(0), 1, 5] {
            let start = DispatchTime.now().uptimeNanoseconds
            let result = vow_await(promise, Int64(milliseconds * 1_000_000), &value)
            XCTAssertEqual(result, Int32(VOW_PENDING))
            XCTAssertEqual(value.kind, VOW_NONE)
            XCTAssertGreaterThanOrEqual(
                DispatchTime.now().uptimeNanoseconds - start, milliseconds * 1_000_000)
        }
        finish(resolver, vow_none())
        vow_promise_release(promise)
    }

    func testG11_manyThreadsWaitForOnePromise() {
        let (promise, resolver) = create()
        onThreads(8) { index in
            if index == 7 {
                usleep(1000)
                finish(resolver, vow_int(1))
            } else {
                XCTAssertEqual(vow_await(promise, oneMinute, nil), Int32(VOW_FULFILLED))
            }
        }
        vow_promise_release(promise)
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

    func testG11_theDestructorOfASkippedHandlersContextMayNotWaitForTheResult() {
        let wait = Wait()
        let (root, resolver) = create()
        wait.promise = link(
            root, context: pointer(to: wait),
            destroy: { context in
                let wait = context!.object(Wait.self)
                wait.results.append(vow_await(wait.promise!, forever, nil))
            }, rejected: pass)
        finish(resolver, vow_int(1))
        XCTAssertEqual(wait.results, [VOW_EDEADLOCK])
        XCTAssertEqual(outcome(of: wait.promise!), .integer(1))
    }

    /// A handler on a serial queue waits for ever for a promise, until it is refused; meanwhile `later` runs.
    private func expectRefusal(
        of promise: OpaquePointer, on serial: OpaquePointer, later: () -> Void = {}
    ) {
        let wait = Wait()
        wait.promise = promise
        let waiter = vow_async(
            serial,
            { _, context in
                let wait = context!.object(Wait.self)
                wait.blocking.send()
                wait.results.append(vow_await(wait.promise!, forever, nil))
                return vow_none()
            }, pointer(to: wait))
        wait.blocking.receive()
        // Usually asleep by then; the answer must be the same when it is not.
        usleep(2000)
        later()
        XCTAssertEqual(outcome(of: waiter), .other(VOW_NONE))
        XCTAssertEqual(wait.results, [VOW_EDEADLOCK])
    }

    func testG11_waitingForAPendingReactionOfTheBlockedQueueIsRefused() {
        let serial = vow_executor_serial(nil)!
        let (root, resolver) = create()
        let promise = link(root, on: serial, fulfilled: pass)
        expectRefusal(of: promise, on: serial)
        finish(resolver, vow_int(1))
        XCTAssertEqual(outcome(of: promise), .integer(1))
        vow_executor_release(serial)
    }

    func testG11_aWaitThatBecomesEndlessLaterIsRefusedThen() {
        let serial = vow_executor_serial(nil)!
        let (promise, resolver) = create()
        expectRefusal(of: promise, on: serial) {
            finish(
                resolver,
                vow_from_promise(link(vow_promise_with(vow_int(1)), on: serial, fulfilled: addOne)))
        }
        XCTAssertEqual(outcome(of: promise), .integer(2))
        vow_executor_release(serial)
    }

    func testG11_handlersOfThePoolMayWaitForEachOther() {
        let all = (0..<200).map { _ in
            vow_async(
                vow_executor_pool(),
                { _, _ in
                    let inner = vow_async(vow_executor_pool(), { _, _ in vow_int(7) }, nil)
                    guard case .integer(let number) = outcome(of: inner) else { return failure(1) }
                    return vow_int(number)
                }, nil)
        }
        for promise in all { XCTAssertEqual(outcome(of: promise), .integer(7)) }
    }
}
