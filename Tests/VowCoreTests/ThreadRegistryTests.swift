// Tests the counters of threads: exact, kept when a thread ends, and its place given back.

import CVow
import CVowPlatform
import XCTest

@testable import VowCore

final class ThreadRegistryTests: CoreTest {
    private func entered() -> Int {
        threadRegistryLock.withLock {
            var count = 0
            var cell = threadRegistry.first
            while let current = cell {
                XCTAssertEqual(current.pointee.next?.pointee.previous ?? current, current)
                count += 1
                cell = current.pointee.next
            }
            return count
        }
    }

    func testAThreadEntersOnceAndLeavesWhenItEnds() {
        // Workers of the pool may end at any time, so the count can fall, and never rises by ours.
        let before = entered()
        Worker(enters: false) {
            XCTAssertNil(vow_platform_thread())
            let first = currentThread()
            XCTAssertEqual(vow_platform_thread(), UnsafeMutableRawPointer(threadCell()))
            XCTAssertEqual(currentThread(), first)
            XCTAssertLessThanOrEqual(self.entered(), before + 1)
        }.join()
        XCTAssertLessThanOrEqual(entered(), before)
    }

    func testCountersOfEndedThreadsAreKept() {
        let before = sumCounters()
        for _ in 0..<200 {
            Worker {
                let promise = openPromise()
                let derived = branch(promise) { input, _ in input }
                resolveLast(promise, vow_none())
                drop(derived, promise)
                drop(makeString("text", length: 4)!)
            }.join()
        }
        let after = sumCounters()
        XCTAssertEqual(after.promisesMade - before.promisesMade, 400)
        XCTAssertEqual(after.promisesSettled - before.promisesSettled, 400)
        XCTAssertEqual(after.promisesFreed - before.promisesFreed, 400)
        XCTAssertEqual(after.promisesFreedPending, before.promisesFreedPending)
        XCTAssertEqual(after.handlersRegistered - before.handlersRegistered, 200)
        XCTAssertEqual(after.handlersDone - before.handlersDone, 200)
        XCTAssertEqual(after.bytesTaken - before.bytesTaken, 200 * (40 + 72 + 29))
        XCTAssertEqual(after.bytesFreed - before.bytesFreed, 200 * (40 + 72 + 29))
    }

    func testWhatOneThreadTakesAnotherMayFree() {
        let before = Holdings()
        var promise: RecordPointer!
        Worker { promise = openPromise() }.join()
        XCTAssertEqual(Holdings().live, before.live + 1)
        XCTAssertEqual(Holdings().pending, before.pending + 1)
        XCTAssertEqual(Holdings().bytes, before.bytes + 40)
        Worker { resolveLast(promise, vow_none()) }.join()
        XCTAssertEqual(Holdings().pending, before.pending)
        Worker { drop(promise) }.join()
        XCTAssertEqual(Holdings(), before)
    }

    func testSumsCanBeTakenWhileThreadsComeAndGo() {
        let before = sumCounters()
        let isOver = AtomicWord(0)
        onThreads(4) { index in
            if index == 0 {
                var last = before.promisesMade
                while isOver.loadAcquire() < 3 {
                    let now = sumCounters().promisesMade
                    XCTAssertGreaterThanOrEqual(now, last)
                    last = now
                }
                return
            }
            for _ in 0..<100 {
                Worker {
                    let promise = openPromise()
                    resolveLast(promise, vow_none())
                    drop(promise)
                }.join()
            }
            _ = isOver.addOrdered(1)
        }
        XCTAssertEqual(sumCounters().promisesMade - before.promisesMade, 300)
    }

    func testAThreadsCellAndStateLieApartInItsStorage() {
        XCTAssertLessThanOrEqual(ThreadCell.rest + MemoryLayout<ThreadState>.size, 512)
        XCTAssertGreaterThanOrEqual(ThreadCell.rest, MemoryLayout<ThreadCell>.size)
        XCTAssertEqual(
            UnsafeRawPointer(currentThread()) - UnsafeRawPointer(threadCell()), ThreadCell.rest)
    }
}
