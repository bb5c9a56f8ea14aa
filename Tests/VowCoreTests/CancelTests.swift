// Tests cancelling: wherever a promise stands it is not fulfilled any more, what it waited for is cancelled first, as
// far as nobody else reads it, and it settles when its own code is through.

import CVow
import XCTest

@testable import VowCore

private let cancelled = Int64(VOW_ECANCELLED)

/// Cancels without a reason.
@discardableResult
func cancelNow(_ promise: RecordPointer) -> Bool {
    let thread = currentThread()
    let isFirst = cancel(promise, ownErrors.cancelled, thread)
    leave(thread)
    return isFirst
}

/// A link on a promise (consumed) that hands on what it gets.
func passing(_ promise: RecordPointer) -> RecordPointer { link(promise) { input, _ in input } }

/// The same on a promise that the caller keeps.
func passing(branching promise: RecordPointer) -> RecordPointer {
    branch(promise) { input, _ in input }
}

/// The code of a promise's rejection; nil: pending or fulfilled.
func rejection(of promise: RecordPointer) -> Int64? {
    promise.pointee.state.read().hasValue ? code(of: promise.value) : nil
}

/// What becomes of a context.
final class Fate {
    var calls = 0
    var ends = 0
}

let useFate: Handler = { input, context in
    context!.object(Fate.self).calls += 1
    return input.retained()
}
let endFate: Destroy = { $0!.object(Fate.self).ends += 1 }

final class CancelTests: CoreTest {
    func testAnOpenPromiseIsRejectedWithTheErrorAtOnce() {
        let promise = openPromise()
        XCTAssertTrue(cancelNow(promise))
        XCTAssertEqual(phase(of: promise), .settled)
        XCTAssertEqual(rejection(of: promise), cancelled)
        // The resolver is still its producer's, and does nothing any more.
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 1))
        XCTAssertFalse(resolveLast(promise, vow_int(1)))
        drop(promise)
    }

    func testCancellingTakesNoMemory() {
        let promise = openPromise()
        let derived = passing(branching: promise)
        let cost = Cost.of { cancelNow(derived) }
        XCTAssertEqual(cost.taken, 0)
        resolveLast(promise, vow_none())
        drop(promise, derived)
    }

    func testG1_aSettledPromiseCannotBeCancelledAndOneIsCancelledOnce() {
        let settled = makePromise(of: vow_int(1), thread)
        XCTAssertFalse(cancelNow(settled))
        XCTAssertEqual(settled.value.as.integer, 1)
        let promise = openPromise()
        XCTAssertTrue(cancelNow(promise))
        XCTAssertFalse(cancelNow(promise))
        XCTAssertFalse(resolveLast(promise, vow_none()))
        drop(settled, promise)
    }

    func testAReactionLeavesTheQueueAndItsHandlerNeverRuns() {
        let promise = openPromise()
        let fate = Fate()
        let others = [branch(promise, with: fate, useFate), branch(promise, with: fate, useFate)]
        let derived = branch(promise, with: fate, useFate)
        let newest = branch(promise, with: fate, useFate)
        XCTAssertTrue(cancelNow(derived))
        XCTAssertEqual(rejection(of: derived), cancelled)
        XCTAssertEqual(derived.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(promise.pointee.state.read().head, newest)
        XCTAssertEqual(newest.next, others[1])
        XCTAssertEqual(others[1].next, others[0])
        XCTAssertNil(others[0].next)
        // The promise lost a reader, and has others.
        XCTAssertEqual(phase(of: promise), .open)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 4, producers: 1))
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(fate.calls, 3)
        drop(derived, newest, promise)
        drop(others[0], others[1])
    }

    func testG3_theContextOfAWaitingReactionIsDestroyedByTheCall() {
        let promise = openPromise()
        let fate = Fate()
        promise.retain()
        let derived = linkWithExtras(promise, context: fate, fulfilled: useFate, destroy: endFate)
        XCTAssertTrue(cancelNow(derived))
        XCTAssertEqual(fate.ends, 1)
        resolveLast(promise, vow_none())
        XCTAssertEqual(fate.calls, 0)
        XCTAssertEqual(fate.ends, 1)
        drop(derived, promise)
    }

    func testCancellingGoesOnUpstreamToTheProducerWhereNobodyElseReads() {
        let promise = openPromise()
        promise.retainProducer()
        let middle = passing(promise)
        let end = passing(middle)
        let cost = Cost.of { cancelNow(end) }
        XCTAssertEqual(cost.settled, 3)
        XCTAssertEqual(cost.done, 2)
        // The links are gone; the root is kept by its resolvers.
        XCTAssertEqual(cost.promisesFreed, 1)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 0, producers: 2))
        XCTAssertEqual(phase(of: promise), .settled)
        XCTAssertFalse(resolveLast(promise, vow_int(1)))
        promise.releaseResolver(thread)
        drop(end)
    }

    func testCancellingStopsAtAPromiseThatSomebodyHolds() {
        let promise = openPromise()
        let middle = passing(promise)
        middle.retain()
        let end = passing(middle)
        XCTAssertTrue(cancelNow(end))
        XCTAssertEqual(phase(of: middle), .open)
        XCTAssertEqual(phase(of: promise), .open)
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(middle.value.as.integer, 1)
        drop(middle, end)
    }

    func testCancellingStopsAtAPromiseThatHasAnotherReaction() {
        let promise = openPromise()
        let other = passing(branching: promise)
        let end = passing(promise)
        XCTAssertTrue(cancelNow(end))
        XCTAssertEqual(phase(of: promise), .open)
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(other.value.as.integer, 1)
        drop(other, end)
    }

    func testDownstreamGetsTheRejection() {
        let promise = openPromise()
        let middle = passing(branching: promise)
        let end = passing(branching: middle)
        let handled = branch(middle, [.link, .onRejected]) { error, _ in
            vow_int(code(of: error)!)
        }
        XCTAssertTrue(cancelNow(middle))
        XCTAssertEqual(rejection(of: end), cancelled)
        XCTAssertEqual(handled.value.as.integer, cancelled)
        resolveLast(promise, vow_none())
        drop(promise, middle, end, handled)
    }

    func testAFollowerLeavesTheQueueItStandsIn() {
        let inner = openPromise()
        inner.retain()
        let outer = openPromise()
        resolveLast(outer, asValue(inner))
        XCTAssertTrue(cancelNow(outer))
        XCTAssertEqual(rejection(of: outer), cancelled)
        XCTAssertNil(inner.pointee.state.read().head)
        XCTAssertEqual(outer.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(inner.nowCounts, Counts(readers: 1, producers: 1))
        resolveLast(inner, vow_int(1))
        drop(inner, outer)
    }

    func testAFollowersCancellationGoesOnToWhatOnlyItReads() {
        let inner = openPromise()
        inner.retainProducer()
        let outer = openPromise()
        resolveLast(outer, asValue(inner))
        XCTAssertTrue(cancelNow(outer))
        XCTAssertEqual(phase(of: inner), .settled)
        XCTAssertFalse(resolveLast(inner, vow_int(1)))
        inner.releaseResolver(thread)
        drop(outer)
    }

    func testARunningHandlerEndsAndItsResultIsReleased() {
        final class Fixture {
            var own: RecordPointer!
            var counts: [UInt64] = []
            let value = makeString("result", length: 6)!
        }
        let fixture = Fixture()
        let root = openPromise()
        fixture.own = link(root, with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            XCTAssertTrue(cancelNow(fixture.own))
            XCTAssertFalse(cancelNow(fixture.own))
            XCTAssertEqual(phase(of: fixture.own), .cancelled)
            return fixture.value.retained()
        }
        resolveLast(root, vow_none())
        XCTAssertEqual(rejection(of: fixture.own), cancelled)
        XCTAssertEqual(fixture.value.box!.pointee.count.loadAcquire(), 1)
        XCTAssertEqual(fixture.own.nowCounts, Counts(readers: 1, producers: 0))
        drop(fixture.own)
        drop(fixture.value)
    }

    func testWhatARunningHandlerReturnsIsCancelledIfNobodyElseReadsIt() {
        final class Fixture {
            var own: RecordPointer!
            let inner = openPromise()
        }
        for isRead in [false, true] {
            for isFinally in [false, true] {
                let fixture = Fixture()
                let root = openPromise()
                fixture.inner.retainProducer()
                if isRead { fixture.inner.retain() }
                let shape: Shape =
                    isFinally ? [.link, .onFulfilled, .finally] : [.link, .onFulfilled]
                fixture.own = link(root, shape, with: fixture) { _, context in
                    let fixture = context!.object(Fixture.self)
                    cancelNow(fixture.own)
                    return asValue(fixture.inner)
                }
                resolveLast(root, vow_none())
                XCTAssertEqual(phase(of: fixture.inner), isRead ? .open : .settled)
                XCTAssertEqual(resolveLast(fixture.inner, vow_none()), isRead)
                fixture.inner.releaseResolver(thread)
                if isRead { drop(fixture.inner) }
                drop(fixture.own)
            }
        }
    }

    func testAFinallyThatWaitsIsCancelledAndWithItWhatItWaitsFor() {
        let inner = openPromise()
        inner.retainProducer()
        final class Fixture { var inner: RecordPointer! }
        let fixture = Fixture()
        fixture.inner = inner
        let end = link(
            makePromise(of: makeString("kept", length: 4)!, thread),
            [.link, .onFulfilled, .onRejected, .finally], with: fixture
        ) { _, context in asValue(context!.object(Fixture.self).inner) }
        XCTAssertEqual(phase(of: end), .following)
        XCTAssertTrue(cancelNow(end))
        XCTAssertEqual(rejection(of: end), cancelled)
        XCTAssertEqual(phase(of: inner), .settled)
        inner.releaseResolver(thread)
        inner.releaseResolver(thread)
        drop(end)
    }

    func testAReactionThatItsExecutorHasIsSettledAtOnceUnlessItHasAContextToDestroyThere() {
        let serial = makeSerialExecutor(label: nil)!
        let gate = Gate()
        let blocked = link(makePromise(of: vow_none(), thread), on: serial, with: gate) {
            _, context in
            context!.object(Gate.self).pass()
            return vow_none()
        }
        gate.arrived.receive()
        let fate = Fate()
        let derived = linkWithExtras(
            makePromise(of: vow_int(1), thread), on: serial, context: fate, fulfilled: useFate,
            destroy: endFate)
        let plain = linkWithExtras(
            makePromise(of: vow_int(1), thread), on: serial, context: fate, fulfilled: useFate,
            destroy: nil)
        XCTAssertEqual(phase(of: derived), .open)
        XCTAssertTrue(cancelNow(derived))
        XCTAssertTrue(cancelNow(plain))
        XCTAssertEqual(phase(of: derived), .cancelled)
        XCTAssertEqual(rejection(of: plain), cancelled)
        XCTAssertEqual(fate.ends, 0)
        gate.open.send()
        expectSettled(blocked)
        eventually("its executor drops it") { plain.nowCounts.producers == 0 }
        expectSettled(derived)
        XCTAssertEqual(rejection(of: derived), cancelled)
        XCTAssertEqual(fate.ends, 1)
        XCTAssertEqual(fate.calls, 0)
        drop(blocked, derived, plain)
        serial.release(thread)
    }

    func testWorkThatReadsNoPromiseIsCancelled() {
        let serial = makeSerialExecutor(label: nil)!
        let gate = Gate()
        let blocked = link(makePromise(of: vow_none(), thread), on: serial, with: gate) {
            _, context in
            context!.object(Gate.self).pass()
            return vow_none()
        }
        gate.arrived.receive()
        let fate = Fate()
        let work = makeWork(
            Reaction(
                shape: [.link, .onFulfilled], handler: useFate, context: pointer(to: fate),
                executor: serial), thread)
        XCTAssertTrue(cancelNow(work))
        gate.open.send()
        expectSettled(blocked)
        eventually("its executor drops it") { work.nowCounts.producers == 0 }
        XCTAssertEqual(fate.calls, 0)
        drop(blocked, work)
        serial.release(thread)
    }

    func testG2_othersAreHandedOverInOrderThoughSomeWereCancelled() {
        let promise = openPromise()
        let journal = Journal()
        final class Numbered {
            let number: Int
            let journal: Journal
            init(_ number: Int, _ journal: Journal) {
                (self.number, self.journal) = (number, journal)
            }
        }
        let contexts = (0..<20).map { Numbered($0, journal) }
        let links = contexts.map { context in
            branch(promise, with: context) { _, context in
                let it = context!.object(Numbered.self)
                it.journal.write(it.number)
                return vow_none()
            }
        }
        for index in stride(from: 0, to: 20, by: 3) { cancelNow(links[index]) }
        resolveLast(promise, vow_none())
        XCTAssertEqual(journal.entries, (0..<20).filter { $0 % 3 != 0 })
        for link in links { drop(link) }
        drop(promise)
    }

    func testAPromiseWhoseFollowersMovedOnIsGoneAndTheyAreCancelledAtTheEnd() {
        let end = openPromise()
        end.retainProducer()
        let middle = openPromise()
        let outer = openPromise()
        resolveLast(outer, asValue(middle))
        resolveLast(middle, asValue(end))
        XCTAssertEqual(outer.upstream, end)
        XCTAssertTrue(cancelNow(outer))
        XCTAssertEqual(phase(of: end), .settled)
        end.releaseResolver(thread)
        end.releaseResolver(thread)
        drop(outer)
    }

    func testACancellationIsNoUnhandledRejection() {
        let reports = Journal()
        setUnhandledHook(
            { _, context in context!.object(Journal.self).write(1) }, pointer(to: reports))
        let promise = openPromise()
        let end = passing(promise)
        cancelNow(end)
        promise.releaseResolver(thread)
        drop(end)
        XCTAssertEqual(reports.entries, [])
        setUnhandledHook(nil, nil)
    }

    func testG6_aLongPathOfFollowersIsCancelledOnASmallStack() {
        Worker(stack: 64 * 1024) {
            let promises = (0..<100_000).map { _ in openPromise() }
            for index in 1..<promises.count {
                promises[index - 1].retain()
                resolveLast(promises[index], asValue(promises[index - 1]))
            }
            for promise in promises.reversed() { XCTAssertTrue(cancelNow(promise)) }
            promises[0].releaseResolver(currentThread())
            for promise in promises { drop(promise) }
        }.join()
    }
}
