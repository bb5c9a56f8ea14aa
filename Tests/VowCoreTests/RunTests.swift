// Tests running a reaction: its input, its place on the thread, its context, and what its result does.

import CVow
import XCTest

@testable import VowCore

/// What a handler saw.
private final class Witness {
    var input = vow_none()
    var frame: Frame?
    var depth: Int32 = 0
    var calls = 0
    var destroyed = 0
    var destroyedInFrame = false
    var phase: Phase?
}

private let watch: Handler = { input, context in
    let witness = context!.object(Witness.self)
    let thread = currentThread()
    witness.input = input
    witness.frame = thread.pointee.frame?.pointee
    witness.depth = thread.pointee.foreignDepth
    witness.calls += 1
    witness.phase = witness.frame.map { phase(of: $0.reaction) }
    return vow_int(10)
}

private let countDestroy: Destroy = { context in
    let witness = context!.object(Witness.self)
    witness.destroyed += 1
    witness.destroyedInFrame = currentThread().pointee.frame != nil
}

final class RunTests: CoreTest {
    func testAHandlerSeesInputContextAndItsOwnPlace() {
        let witness = Witness()
        let promise = makePromise(of: vow_int(3), thread)
        let derived = link(promise, with: witness, watch)
        XCTAssertEqual(witness.calls, 1)
        XCTAssertEqual(witness.input.as.integer, 3)
        XCTAssertEqual(witness.frame?.reaction, derived)
        XCTAssertEqual(witness.frame?.executor, ownExecutors.inline)
        XCTAssertNil(witness.frame?.outer)
        XCTAssertEqual(witness.depth, 1)
        // It is begun by running it.
        XCTAssertEqual(witness.phase, .open)
        XCTAssertEqual(derived.value.as.integer, 10)
        drop(derived)
    }

    func testOnlyAReactionThatIsNotInlineIsMarkedAsRunning() {
        let promise = makePromise(of: vow_int(3), thread)
        for keepsLink in [true, false] {
            let witness = Witness()
            let derived = branch(promise, on: ownExecutors.pool, with: witness, watch)
            let last = branch(derived, on: ownExecutors.pool, with: witness) { _, _ in vow_none() }
            if !keepsLink { drop(derived) }
            expectSettled(last)
            XCTAssertEqual(witness.phase, .running)
            XCTAssertEqual(witness.frame?.executor, ownExecutors.pool)
            if keepsLink { drop(derived) }
            drop(last)
        }
        drop(promise)
    }

    func testG2_thePromiseOfTheOnlyInlineReactionDeliversUntilThatHasRun() {
        let phases = Journal()
        let promise = openPromise()
        let derived = branch(promise, with: phases) { _, context in
            let read = currentThread().pointee.frame!.pointee.promise!
            context!.object(Journal.self).write(Int(phase(of: read).rawValue))
            return vow_none()
        }
        resolveLast(promise, vow_int(1))
        XCTAssertEqual(phases.entries, [Int(Phase.delivering.rawValue)])
        XCTAssertEqual(phase(of: promise), .settled)
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(derived.nowCounts, Counts(readers: 1, producers: 0))
        drop(derived, promise)
    }

    func testSeveralInlineReactionsGiveTheirReferencesBackTogether() {
        let counts = Journal()
        let promise = openPromise()
        for _ in 0..<4 {
            drop(
                branch(promise, with: counts) { _, context in
                    let read = currentThread().pointee.frame!.pointee.promise!
                    context!.object(Journal.self).write(Int(read.nowCounts.readers))
                    return vow_none()
                })
        }
        resolveLast(promise, vow_none())
        XCTAssertEqual(counts.entries, [5, 5, 5, 5])
        XCTAssertEqual(promise.nowCounts, Counts(readers: 1, producers: 0))
        XCTAssertEqual(phase(of: promise), .settled)
        drop(promise)
    }

    func testTheInputIsLentAndNotCopied() {
        let value = makeString("input", length: 5)!
        let counts = Journal()
        let derived = link(makePromise(of: value.retained(), thread), with: counts) {
            input, context in
            context!.object(Journal.self).write(Int(input.box!.pointee.count.loadAcquire()))
            return input.retained()
        }
        XCTAssertEqual(counts.entries, [2])
        XCTAssertEqual(derived.value.box, value.box)
        XCTAssertEqual(value.box!.pointee.count.loadAcquire(), 2)
        drop(derived)
        drop(value)
    }

    func testG3_theContextIsDestroyedOnceAfterTheHandlerReturned() {
        let witness = Witness()
        let derived = linkWithExtras(
            makePromise(of: vow_none(), thread), context: witness, fulfilled: watch,
            destroy: countDestroy)
        XCTAssertEqual(witness.calls, 1)
        XCTAssertEqual(witness.destroyed, 1)
        XCTAssertTrue(witness.destroyedInFrame)
        drop(derived)
        XCTAssertEqual(witness.destroyed, 1)
    }

    func testG3_theContextIsDestroyedOnceWhenNoHandlerRuns() {
        let witness = Witness()
        let derived = linkWithExtras(
            makePromise(of: failure(1), thread), context: witness, fulfilled: watch,
            destroy: countDestroy)
        XCTAssertEqual(witness.calls, 0)
        XCTAssertEqual(witness.destroyed, 1)
        dropObserved(derived)
    }

    func testG3_aBrokenPromiseDestroysTheContextsOfItsReactions() {
        let witness = Witness()
        let promise = openPromise()
        let derived = linkWithExtras(
            promise, context: witness, fulfilled: watch, destroy: countDestroy)
        XCTAssertEqual(witness.destroyed, 0)
        promise.releaseResolver(thread)
        XCTAssertEqual(witness.calls, 0)
        XCTAssertEqual(witness.destroyed, 1)
        XCTAssertEqual(code(of: derived.value), Int64(VOW_EBROKEN))
        dropObserved(derived)
    }

    func testAnErrorAsAResultRejects() {
        let derived = link(makePromise(of: vow_none(), thread)) { _, _ in failure(21) }
        XCTAssertEqual(code(of: derived.value), 21)
        dropObserved(derived)
    }

    func testARejectionIsHandledByTheRejectionHandlerOfALinkWithBoth() {
        for (make, wanted) in [({ vow_int(1) }, 1), ({ failure(1) }, 2)]
            as [(() -> vow_value, Int64)]
        {
            let derived = linkWithExtras(
                makePromise(of: make(), thread), fulfilled: { _, _ in vow_int(1) },
                rejected: { _, _ in vow_int(2) })
            XCTAssertEqual(derived.value.as.integer, wanted)
            drop(derived)
        }
    }

    func testG3_aRefusedReactionIsRejectedAndItsContextDestroyed() {
        let witness = Witness()
        let promise = openPromise()
        let derived = linkWithExtras(
            promise, context: witness, fulfilled: watch, destroy: countDestroy)
        // As when an executor cannot run it: the queue is taken, and its member refused.
        XCTAssertTrue(promise.pointee.state.transitionToClaimed(from: .open))
        promise.value = vow_none()
        XCTAssertEqual(promise.pointee.state.transitionToSettling {}, derived)
        XCTAssertNil(promise.pointee.state.transitionAfterHandOver(inlineAreLeft: false))
        count(threadCell().pointee.counters.promisesSettled)
        let cost = Cost.of {
            refuse(derived, .shutDown, thread)
            XCTAssertEqual(witness.destroyed, 0)
            drainSkipped(thread)
        }
        XCTAssertEqual(cost, Cost(settled: 1, done: 1))
        XCTAssertEqual(code(of: derived.value), Int64(VOW_ESHUTDOWN))
        XCTAssertEqual(witness.calls, 0)
        XCTAssertEqual(witness.destroyed, 1)
        promise.releaseProducer(thread)
        dropObserved(derived)
    }
}
