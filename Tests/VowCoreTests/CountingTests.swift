// Tests what each operation does to the counts of promises and values.

import CVow
import XCTest

@testable import VowCore

final class CountingTests: CoreTest {
    func testAPromiseBeginsWithOneHandleAndItsProducers() {
        for producers in UInt64(0)...2 {
            let promise = makePromise(.open, producers: producers, thread)!
            XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: producers))
            for _ in 0..<producers { promise.releaseResolver(thread) }
            dropObserved(promise)
        }
    }

    func testHandlesAndProducersAreCountedApart() {
        let promise = openPromise()
        promise.retain()
        XCTAssertEqual(promise.nowCounts, Counts(readers: 2, producers: 1))
        promise.retainProducer()
        promise.retainProducer()
        XCTAssertEqual(promise.nowCounts, Counts(readers: 2, producers: 3))
        promise.release(thread)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 3))
        promise.releaseResolver(thread)
        promise.releaseResolver(thread)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 1))
        XCTAssertEqual(phase(of: promise), .open)
        resolveLast(promise, vow_none())
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        drop(promise)
    }

    func testTheLastReferenceOfEitherKindFrees() {
        let first = openPromise()
        let withoutHandle = Cost.of { drop(first) }
        XCTAssertEqual(withoutHandle, Cost())
        let last = Cost.of { first.releaseResolver(thread) }
        XCTAssertEqual(last, Cost(freed: 40, promisesFreed: 1))

        let second = openPromise()
        resolveLast(second, vow_none())
        XCTAssertEqual(Cost.of { drop(second) }, Cost(freed: 40, promisesFreed: 1))
    }

    func testG9_theLastResolverOfAnUnresolvedPromiseBreaksItOnlyWhenSomebodyCanSee() {
        let watched = openPromise()
        watched.releaseResolver(thread)
        XCTAssertEqual(code(of: watched.value), Int64(VOW_EBROKEN))
        XCTAssertEqual(watched.nowCounts, Counts(readers: 1, producers: 0))
        dropObserved(watched)

        let unwatched = openPromise()
        drop(unwatched)
        let cost = Cost.of { unwatched.releaseResolver(thread) }
        XCTAssertEqual(cost.settled, 0)
        XCTAssertEqual(cost.promisesFreed, 1)
    }

    func testG9_aResolverThatIsNotTheLastBreaksNothing() {
        let promise = openPromise()
        promise.retainProducer()
        promise.releaseResolver(thread)
        XCTAssertEqual(phase(of: promise), .open)
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(promise.value.as.integer, 1)
        drop(promise)
    }

    func testG9_releasingTheResolverOfAResolvedPromiseChangesNothing() {
        let promise = openPromise()
        promise.retainProducer()
        resolveLast(promise, vow_int(1))
        promise.releaseResolver(thread)
        XCTAssertEqual(promise.value.as.integer, 1)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        drop(promise)
    }

    func testALinkHoldsItsPromiseAndItsQueueHoldsTheLink() {
        let promise = openPromise()
        let derived = branch(promise) { _, _ in vow_none() }
        XCTAssertEqual(promise.nowCounts, Counts(readers: 2, producers: 1))
        XCTAssertEqual(derived.nowCounts, Counts(readers: 1, producers: 1))
        resolveLast(promise, vow_none())
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(derived.nowCounts, Counts(readers: 1, producers: 0))
        drop(derived, promise)
    }

    func testOnlyMineMeansOneReferenceOfAnyKind() {
        let promise = openPromise()
        XCTAssertFalse(promise.isOnlyMine)
        resolveLast(promise, vow_none())
        XCTAssertTrue(promise.isOnlyMine)
        promise.retain()
        XCTAssertFalse(promise.isOnlyMine)
        drop(promise, promise)
    }

    func testImmortalPromisesAreNotCounted() {
        let promise = promiseWithoutMemory!
        let before = promise.nowCounts
        let cost = Cost.of {
            promise.retain()
            promise.retainProducer()
            for _ in 0..<3 {
                promise.release(thread)
                promise.releaseProducer(thread)
                promise.releaseResolver(thread)
            }
        }
        XCTAssertEqual(promise.nowCounts, before)
        XCTAssertEqual(cost, Cost())
    }

    func testThePromiseForNoMemoryIgnoresEverything() {
        let promise = promiseWithoutMemory!
        XCTAssertEqual(code(of: promise.value), Int64(VOW_ENOMEM))
        XCTAssertFalse(resolveLast(promise, vow_int(1)))
        XCTAssertEqual(code(of: promise.value), Int64(VOW_ENOMEM))
        let journal = Journal()
        let derived = branch(promise, [.link, .onRejected], with: journal) { error, context in
            context!.object(Journal.self).write(Int(code(of: error)!))
            return vow_none()
        }
        XCTAssertEqual(journal.entries, [Int(VOW_ENOMEM)])
        drop(derived)
    }

    func testValuesCountTheirReferences() {
        let value = makeString("a", length: 1)!
        let count = value.box!
        XCTAssertEqual(value.retained().box, count)
        XCTAssertEqual(count.pointee.count.loadAcquire(), 2)
        XCTAssertEqual(Cost.of { value.release(thread) }, Cost())
        XCTAssertEqual(count.pointee.count.loadAcquire(), 1)
        let size = UInt64(count.size)
        XCTAssertEqual(Cost.of { value.release(thread) }, Cost(freed: size))
    }

    func testAPromiseAsAValueCountsThePromise() {
        let promise = openPromise()
        let value = asValue(promise)
        value.retained()
        XCTAssertEqual(promise.nowCounts, Counts(readers: 2, producers: 1))
        value.release(thread)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 1))
        resolveLast(promise, vow_none())
        XCTAssertEqual(Cost.of { value.release(thread) }.promisesFreed, 1)
    }

    func testScalarsHaveNoCount() {
        let cost = Cost.of {
            for value in [vow_none(), vow_bool(true), vow_int(1), vow_double(1), vow_pointer(nil)] {
                XCTAssertEqual(value.retained().kind, value.kind)
                for _ in 0..<3 { value.release(thread) }
            }
        }
        XCTAssertEqual(cost, Cost())
    }

    func testManyThreadsLoseNoReference() {
        let promise = openPromise()
        let value = makeString("shared", length: 6)!
        onThreads(4) { _ in
            let thread = currentThread()
            for _ in 0..<5_000 {
                promise.retain()
                promise.retainProducer()
                value.retained()
                promise.releaseResolver(thread)
                promise.release(thread)
                value.release(thread)
            }
        }
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 1))
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 1)
        resolveLast(promise, value)
        drop(promise)
    }

    func testOfManyThreadsThatReleaseOneFrees() {
        for _ in 0..<300 {
            let promise = openPromise()
            resolveLast(promise, makeString("shared", length: 6)!)
            for _ in 1..<4 { promise.retain() }
            // A second free would be found by the leak gate, and by the allocator.
            onThreads(4) { _ in promise.release(currentThread()) }
        }
    }
}
