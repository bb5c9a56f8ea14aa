// Tests the cost budget: how much memory each piece of work takes, counted, not estimated.

import CVow
import XCTest

@testable import VowCore

final class BudgetTests: CoreTest {
    /// A link on a promise (kept) that hands its input on.
    private func pass(_ promise: RecordPointer, on executor: ExecutorPointer? = nil)
        -> RecordPointer
    {
        branch(promise, on: executor) { input, _ in input }
    }

    func testCreateResolveReleaseIsOneAllocation() {
        let cost = Cost.of {
            let promise = openPromise()
            resolveLast(promise, vow_int(1))
            drop(promise)
        }
        XCTAssertEqual(cost, Cost(taken: 40, freed: 40, made: 1, settled: 1, promisesFreed: 1))
    }

    func testAnInlineLinkBuiltRunAndFreedIsOneAllocationOf72Bytes() {
        let root = openPromise()
        let cost = Cost.of {
            let derived = pass(root)
            resolveLast(root, vow_int(1))
            drop(derived)
        }
        XCTAssertEqual(
            cost,
            Cost(
                taken: 72, freed: 72, made: 1, settled: 2, promisesFreed: 1, registered: 1, done: 1)
        )
        drop(root)
    }

    func testAChainOfLinksIsOneAllocationEach() {
        let root = openPromise()
        var end = root
        let building = Cost.of { for _ in 0..<1000 { end = link(end) { input, _ in input } } }
        XCTAssertEqual(building, Cost(taken: 72_000, made: 1000, registered: 1000))
        let running = Cost.of { resolveLast(root, vow_int(1)) }
        XCTAssertEqual(running.taken, 0)
        XCTAssertEqual(running.done, 1000)
        // Each promise dies as soon as the next one has its value.
        XCTAssertEqual(running.promisesFreed, 1000)
        drop(end)
    }

    func testALinkOnASettledPromiseIsOneAllocation() {
        let root = makePromise(of: vow_int(1), thread)
        XCTAssertEqual(Cost.of { drop(pass(root)) }.taken, 72)
        drop(root)
    }

    func testSettlingWithAnyNumberOfHandlersTakesNothing() {
        for handlers in [0, 1, 2, 100] {
            let promise = openPromise()
            let links = (0..<handlers).map { _ in pass(promise) }
            let cost = Cost.of { resolveLast(promise, vow_int(1)) }
            XCTAssertEqual(cost, Cost(settled: UInt64(handlers) + 1, done: UInt64(handlers)))
            for link in links { drop(link) }
            drop(promise)
        }
    }

    func testRejectingAndBreakingTakeNothing() {
        let rejected = openPromise()
        let error = failure(1)
        XCTAssertEqual(Cost.of { resolveLast(rejected, error) }.taken, 0)
        let broken = openPromise()
        XCTAssertEqual(Cost.of { broken.releaseResolver(thread) }.taken, 0)
        dropObserved(rejected)
        dropObserved(broken)
    }

    func testAdoptionOfASettledAndOfAPendingPromiseTakesNothing() {
        let settled = makePromise(of: vow_int(1), thread)
        let pending = openPromise()
        for inner in [settled, pending] {
            let outer = openPromise()
            inner.retain()
            XCTAssertEqual(Cost.of { resolveLast(outer, asValue(inner)) }.taken, 0)
            if inner == pending { resolveLast(pending, vow_int(1)) }
            XCTAssertEqual(outer.value.as.integer, 1)
            drop(outer)
        }
        drop(settled, pending)
    }

    func testWaitingTakesNothing() {
        let promise = openPromise()
        let hasTimedOut = Signal()
        let worker = Worker {
            hasTimedOut.receive()
            usleep(3000)
            resolveLast(promise, vow_int(1))
        }
        let cost = Cost.of {
            XCTAssertEqual(waitFor(promise, nanoseconds: 100_000), .timedOut)
            hasTimedOut.send()
            expectSettled(promise)
        }
        XCTAssertEqual(cost, Cost())
        worker.join()
        drop(promise)
    }

    func testHandingWorkToThePoolOrAQueueTakesNothingOfOurs() {
        let queue = makeSerialExecutor(label: nil)!
        for executor in [ownExecutors.pool, queue] {
            let promise = openPromise()
            let links = (0..<10).map { _ in pass(promise, on: executor) }
            XCTAssertEqual(Cost.of { resolveLast(promise, vow_int(1)) }.taken, 0)
            for link in links {
                expectSettled(link)
                drop(link)
            }
            drop(promise)
        }
        queue.release(thread)
    }

    func testAPendingPromiseWithOneHandlerHoldsNoMoreThan128Bytes() {
        let before = Holdings().bytes
        let promise = openPromise()
        let derived = pass(promise)
        XCTAssertEqual(Holdings().bytes - before, 112)
        resolveLast(promise, vow_none())
        drop(derived, promise)
    }

    func testReferencesAndScalarsTakeNothing() {
        let promise = openPromise()
        let cost = Cost.of {
            promise.retain()
            promise.retainProducer()
            promise.releaseResolver(thread)
            drop(promise)
            drop(vow_int(1).retained())
        }
        XCTAssertEqual(cost, Cost())
        resolveLast(promise, vow_none())
        drop(promise)
    }

    func testAListOfResultsIsOneAllocation() {
        let values = (0..<100).map { vow_int($0) }
        let cost = Cost.of { drop(makeList(values, count: 100)!) }
        XCTAssertEqual(cost.taken, 16 + 8 + 1600)
        XCTAssertEqual(cost.freed, cost.taken)
    }
}
