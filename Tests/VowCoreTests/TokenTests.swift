// Tests tokens: one switch for many reactions, and how they enter and leave its list.

import CVow
import XCTest

@testable import VowCore

/// A source without parents.
func source(_ thread: ThreadPointer, linkedTo parents: SourcePointer?...) -> SourcePointer {
    let handles = parents.map { OpaquePointer($0) }
    return handles.withUnsafeBufferPointer { makeSource(linkedTo: $0, thread)! }
}

@discardableResult
func cancelSource(_ source: SourcePointer, _ reason: vow_value = vow_none()) -> Bool {
    let thread = currentThread()
    let isFirst = VowCore.cancelSource(source, reason, thread)
    leave(thread)
    return isFirst
}

/// A link with a token, on a promise (consumed).
func linkWithToken(
    _ promise: RecordPointer, _ token: SourcePointer, on executor: ExecutorPointer? = nil,
    _ shape: Shape = [.link, .onFulfilled], with context: AnyObject? = nil,
    _ handler: @escaping Handler
) -> RecordPointer {
    let thread = currentThread()
    let derived = react(
        to: promise,
        Reaction(
            shape: shape, handler: handler, context: context.map(pointer(to:)),
            executor: executor ?? ownExecutors.inline, token: token), thread)
    leave(thread)
    return derived
}

final class TokenTests: CoreTest {
    private let cancelled = Int64(VOW_ECANCELLED)

    private func isListed(_ reaction: RecordPointer) -> Bool {
        reaction.travel.pointee.registration.isListed
    }

    func testAReactionIsListedUntilItIsThrough() {
        let source = source(thread)
        let promise = openPromise()
        let derived = linkWithToken(promise, source) { input, _ in input }
        XCTAssertTrue(isListed(derived))
        resolveLast(promise, vow_int(1))
        XCTAssertFalse(isListed(derived))
        XCTAssertNil(source.pointee.first)
        XCTAssertNil(source.pointee.last)
        XCTAssertTrue(cancelSource(source))
        XCTAssertEqual(derived.value.as.integer, 1)
        drop(derived)
        source.releaseSource(thread)
    }

    func testCancellingRejectsTheReactionsAndLeavesThePromiseAlone() {
        let source = source(thread)
        let promise = openPromise()
        let fate = Fate()
        let derived = (0..<3).map { _ -> RecordPointer in
            promise.retain()
            return linkWithToken(promise, source, with: fate, useFate)
        }
        XCTAssertTrue(cancelSource(source))
        for link in derived { XCTAssertEqual(rejection(of: link), cancelled) }
        XCTAssertEqual(phase(of: promise), .open)
        XCTAssertNil(promise.pointee.state.read().head)
        resolveLast(promise, vow_none())
        XCTAssertEqual(fate.calls, 0)
        for link in derived { drop(link) }
        drop(promise)
        source.releaseSource(thread)
    }

    func testASecondCancellationDoesNothing() {
        let source = source(thread)
        XCTAssertTrue(cancelSource(source, vow_int(1)))
        XCTAssertFalse(cancelSource(source, makeString("late", length: 4)!))
        XCTAssertEqual(source.pointee.reason.as.integer, 1)
        source.releaseSource(thread)
    }

    func testG2_rejectionHandlersRunInTheOrderOfRegistration() {
        final class Numbered {
            let number: Int
            let journal: Journal
            init(_ number: Int, _ journal: Journal) {
                (self.number, self.journal) = (number, journal)
            }
        }
        let source = source(thread)
        let promise = openPromise()
        let journal = Journal()
        let contexts = (0..<5).map { Numbered($0, journal) }
        let links = contexts.map { context -> RecordPointer in
            promise.retain()
            return linkWithToken(promise, source, [.link, .onRejected], with: context) {
                error, context in
                let it = context!.object(Numbered.self)
                it.journal.write(it.number)
                return vow_int(code(of: error)!)
            }
        }
        cancelSource(source)
        XCTAssertEqual(journal.entries, [0, 1, 2, 3, 4])
        for link in links {
            XCTAssertEqual(rejection(of: link), cancelled)
            drop(link)
        }
        resolveLast(promise, vow_none())
        drop(promise)
        source.releaseSource(thread)
    }

    func testAReactionWithACancelledTokenIsRejectedAtOnce() {
        let source = source(thread)
        cancelSource(source)
        let promise = openPromise()
        let pending = linkWithToken(promise, source) { input, _ in input }
        XCTAssertEqual(rejection(of: pending), cancelled)
        resolveLast(promise, vow_none())
        drop(pending)
        source.releaseSource(thread)
    }

    func testOneThatItsExecutorHasReadsTheCancellationWhenItBegins() {
        let serial = makeSerialExecutor(label: nil)!
        let source = source(thread)
        let gate = Gate()
        let blocked = link(makePromise(of: vow_none(), thread), on: serial, with: gate) {
            _, context in
            context!.object(Gate.self).pass()
            return vow_none()
        }
        gate.arrived.receive()
        let fate = Fate()
        let passing = linkWithToken(
            makePromise(of: vow_int(1), thread), source, on: serial, with: fate, useFate)
        let handled = linkWithToken(
            makePromise(of: vow_int(1), thread), source, on: serial,
            [.link, .onFulfilled, .onRejected]
        ) { input, _ in vow_int(code(of: input) ?? 0) }
        cancelSource(source)
        gate.open.send()
        expectSettled(passing)
        expectSettled(handled)
        XCTAssertEqual(rejection(of: passing), cancelled)
        XCTAssertEqual(rejection(of: handled), cancelled)
        XCTAssertEqual(fate.calls, 0)
        drop(blocked, passing, handled)
        serial.release(thread)
        source.releaseSource(thread)
    }

    func testARunningReactionIsCancelledAndOneThatFollowsToo() {
        final class Fixture {
            var own: RecordPointer!
            var inner: RecordPointer!
            var source: SourcePointer!
        }
        let fixture = Fixture()
        fixture.source = source(thread)
        fixture.inner = openPromise()
        let root = openPromise()
        fixture.own = linkWithToken(root, fixture.source, with: fixture) { _, context in
            let fixture = context!.object(Fixture.self)
            cancelSource(fixture.source)
            XCTAssertEqual(phase(of: fixture.own), .cancelled)
            return vow_none()
        }
        resolveLast(root, vow_none())
        XCTAssertEqual(rejection(of: fixture.own), cancelled)
        drop(fixture.own)
        fixture.source.releaseSource(thread)

        fixture.source = source(thread)
        let waiting = linkWithToken(
            makePromise(of: vow_none(), thread), fixture.source, with: fixture
        ) { _, context in
            let inner = context!.object(Fixture.self).inner!
            inner.retain()
            return asValue(inner)
        }
        XCTAssertEqual(phase(of: waiting), .following)
        cancelSource(fixture.source)
        // Somebody else holds what the handler has returned.
        XCTAssertEqual(phase(of: waiting), .following)
        XCTAssertEqual(phase(of: fixture.inner), .open)
        resolveLast(fixture.inner, vow_none())
        XCTAssertEqual(rejection(of: waiting), cancelled)
        drop(waiting, fixture.inner)
        fixture.source.releaseSource(thread)
    }

    func testLinkedSourcesAreCancelledInLinesOfAnyLengthAndWithTheReason() {
        Worker(stack: 64 * 1024) {
            let thread = currentThread()
            var sources = [source(thread)]
            for _ in 0..<20_000 { sources.append(source(thread, linkedTo: sources.last!)) }
            XCTAssertTrue(cancelSource(sources[0], vow_int(7)))
            XCTAssertTrue(sources.last!.pointee.isCancelled.isSet)
            XCTAssertEqual(sources.last!.pointee.reason.as.integer, 7)
            XCTAssertFalse(cancelSource(sources[1]))
            for source in sources { source.releaseSource(thread) }
        }.join()
    }

    func testALinkToACancelledParentTakesItsReasonOver() {
        let parent = source(thread)
        cancelSource(parent, vow_int(4))
        let child = source(thread, linkedTo: nil, parent)
        XCTAssertTrue(child.pointee.isCancelled.isSet)
        XCTAssertEqual(child.pointee.reason.as.integer, 4)
        child.releaseSource(thread)
        parent.releaseSource(thread)
    }

    func testAChildThatIsGoneIsForgottenByItsParent() {
        let parent = source(thread)
        source(thread, linkedTo: parent).releaseSource(thread)
        XCTAssertNil(parent.pointee.first)
        XCTAssertTrue(cancelSource(parent))
        parent.releaseSource(thread)
    }

    func testHooksAreCalledInOrderOrDestroyedWhenTheLastSourceGoes() {
        let journal = Journal()
        let cancelling = source(thread)
        for number in 1...3 {
            addHook(makeNotedHook(number, journal), to: cancelling, thread)
        }
        cancelSource(cancelling)
        XCTAssertEqual(journal.entries, [1, -1, 2, -2, 3, -3])
        addHook(makeNotedHook(4, journal), to: cancelling, thread)
        XCTAssertEqual(journal.entries, [1, -1, 2, -2, 3, -3, 4, -4])
        cancelling.releaseSource(thread)

        let going = source(thread)
        going.retainToken()
        for number in 5...7 {
            addHook(makeNotedHook(number, journal), to: going, thread)
        }
        going.releaseSource(thread)
        addHook(makeNotedHook(8, journal), to: going, thread)
        XCTAssertEqual(Array(journal.entries[8...]), [-5, -6, -7, -8])
        going.releaseToken(thread)
    }

    func testG6_aSourceCancelsManyReactionsOnASmallStack() {
        let count = manyOf(20_000, full: 100_000)
        Worker(stack: 64 * 1024) {
            let thread = currentThread()
            let source = source(thread)
            let promise = openPromise()
            for _ in 0..<count {
                promise.retain()
                drop(linkWithToken(promise, source) { input, _ in input })
            }
            let cost = Cost.of { cancelSource(source) }
            XCTAssertEqual(cost.promisesFreed, UInt64(count))
            resolveLast(promise, vow_none())
            drop(promise)
            source.releaseSource(thread)
        }.join()
    }

    func testG12_cancellingWhileReactionsEnterAndPromisesSettle() {
        for _ in 0..<200 {
            let source = source(thread)
            let promise = openPromise()
            let made = AtomicWord(0)
            onThreads(3) { index in
                let thread = currentThread()
                switch index {
                case 0: cancelSource(source)
                case 1: resolveLast(promise, vow_int(1))
                default:
                    for _ in 0..<10 {
                        promise.retain()
                        let derived = linkWithToken(promise, source, on: ownExecutors.pool) {
                            input, _ in input
                        }
                        _ = made.addOrdered(1)
                        XCTAssertEqual(waitFor(derived, nanoseconds: 60_000_000_000), .settled)
                        derived.release(thread)
                    }
                }
                leave(thread)
            }
            XCTAssertEqual(made.loadAcquire(), 10)
            drop(promise)
            source.releaseSource(thread)
        }
    }
}
