// Tests waiting: how it ends, what it leaves behind in the queue, and which waits are refused.

import CVow
import XCTest

@testable import VowCore

final class AwaitTests: CoreTest {
    func testASettledPromiseIsNotWaitedFor() {
        let promise = makePromise(of: vow_int(1), thread)
        XCTAssertEqual(
            Cost.of { XCTAssertEqual(waitFor(promise, nanoseconds: 0), .settled) }, Cost())
        drop(promise)
    }

    func testG11_aWaitEndsWhenAnotherThreadSettles() {
        for delay in [UInt32(0), 10, 100, 3000] {
            for outcome in [{ vow_int(5) }, { failure(5) }] {
                let promise = openPromise()
                let worker = Worker {
                    usleep(delay)
                    resolveLast(promise, outcome())
                }
                expectSettled(promise)
                XCTAssertTrue(promise.pointee.state.read().hasValue)
                worker.join()
                dropObserved(promise)
            }
        }
    }

    func testG11_aWaitEndsWhenThePromiseBreaks() {
        let promise = openPromise()
        let worker = Worker {
            usleep(2000)
            promise.releaseResolver(currentThread())
        }
        expectSettled(promise)
        XCTAssertEqual(code(of: promise.value), Int64(VOW_EBROKEN))
        worker.join()
        dropObserved(promise)
    }

    func testG11_aWaitEndsWhenTheTimeIsUpAndLeavesTheQueueAsItWas() {
        let promise = openPromise()
        let before = branch(promise) { input, _ in input }
        let start = monotonicNow()
        XCTAssertEqual(waitFor(promise, nanoseconds: 3_000_000), .timedOut)
        XCTAssertGreaterThanOrEqual(monotonicNow() - start, 3_000_000)
        let after = branch(promise) { input, _ in input }
        XCTAssertEqual(promise.pointee.state.read().head, after)
        XCTAssertEqual(after.next, before)
        XCTAssertNil(before.next)
        resolveLast(promise, vow_int(1))
        drop(before, after, promise)
    }

    func testG11_aWaiterIsTakenOutOfTheMiddleOfTheQueue() {
        // Again with a longer time-out until it was in the middle: until something came behind it in time.
        var milliseconds: Int64 = 20
        while !takesAWaiterOut(after: milliseconds * 1_000_000) && milliseconds < 60_000 {
            milliseconds *= 5
        }
        XCTAssertLessThan(milliseconds, 60_000)
    }

    /// - Returns: whether the wait was still under way when another reaction was there.
    private func takesAWaiterOut(after nanoseconds: Int64) -> Bool {
        let promise = openPromise()
        let before = branch(promise) { input, _ in input }
        let isOver = AtomicWord(0)
        var wasInTheMiddle = false
        withoutActuallyEscaping({
            XCTAssertEqual(waitFor(promise, nanoseconds: nanoseconds), .timedOut)
            isOver.storeRelease(1)
        }) { body in
            let worker = Worker(body)
            eventually("the thread waits") {
                promise.pointee.state.read().head != before || isOver.loadAcquire() == 1
            }
            let after = branch(promise) { input, _ in input }
            wasInTheMiddle = after.next != before
            worker.join()
            XCTAssertEqual(promise.pointee.state.read().head, after)
            XCTAssertEqual(after.next, before)
            resolveLast(promise, vow_int(1))
            drop(before, after, promise)
        }
        return wasInTheMiddle
    }

    func testG11_manyThreadsWaitForOnePromise() {
        let promise = openPromise()
        onThreads(8) { index in
            if index == 7 {
                usleep(1000)
                resolveLast(promise, vow_int(1))
            } else {
                expectSettled(promise)
            }
        }
        drop(promise)
    }

    func testG11_timeoutsThatRaceWithSettlingAreEither() {
        for round in 0..<300 {
            let promise = openPromise()
            let worker = Worker { resolveLast(promise, vow_int(1)) }
            let result = waitFor(promise, nanoseconds: Int64(round) * 500)
            XCTAssertTrue(result == .settled || result == .timedOut)
            expectSettled(promise)
            worker.join()
            drop(promise)
        }
    }

    func testG11_waitingInsideAHandlerForItsOwnResultIsRefused() {
        for executor in [ownExecutors.inline, ownExecutors.pool] {
            check(executor) { fixture in fixture.own }
        }
    }

    func testG11_waitingOnASerialExecutorForItsOwnWorkIsRefused() {
        let queue = makeSerialExecutor(label: "own")!
        check(queue) { fixture in
            // Behind the handler that waits, on the same queue.
            let derived = link(makePromise(of: vow_none(), currentThread()), on: queue) { _, _ in
                vow_none()
            }
            fixture.made = derived
            return derived
        }
        check(queue) { fixture in fixture.own }
        queue.release(thread)
    }

    func testG11_anInlineHandlerThatOnlyTheWaitingThreadCanRunIsRunByIt() {
        final class Fixture { var result: WaitResult? }
        let fixture = Fixture()
        let outer = link(makePromise(of: vow_none(), thread), with: fixture) { _, context in
            let inner = link(makePromise(of: vow_none(), currentThread())) { _, _ in vow_int(2) }
            XCTAssertEqual(phase(of: inner), .open)
            context!.object(Fixture.self).result = waitFor(inner, nanoseconds: 60_000_000_000)
            XCTAssertEqual(inner.value.as.integer, 2)
            drop(inner)
            return vow_none()
        }
        XCTAssertEqual(fixture.result, .settled)
        drop(outer)
    }

    private final class Fixture {
        var own: RecordPointer!
        var made: RecordPointer?
        var result: WaitResult?
        let target: (Fixture) -> RecordPointer

        init(_ target: @escaping (Fixture) -> RecordPointer) { self.target = target }
    }

    /// A handler on the executor waits for a promise, which must be refused.
    private func check(
        _ executor: ExecutorPointer, file: StaticString = #filePath, line: UInt = #line,
        _ target: @escaping (Fixture) -> RecordPointer
    ) {
        let fixture = Fixture(target)
        let root = openPromise()
        fixture.own = link(root, on: executor, with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            fixture.result = waitFor(fixture.target(fixture), nanoseconds: 60_000_000_000)
            return vow_none()
        }
        resolveLast(root, vow_none())
        expectSettled(fixture.own, file: file, line: line)
        XCTAssertEqual(fixture.result, .deadlock, file: file, line: line)
        if let made = fixture.made {
            expectSettled(made, file: file, line: line)
            drop(made)
        }
        drop(fixture.own)
    }
}
