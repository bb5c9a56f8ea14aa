// Tests handing work to executors: a program's own, a dispatch queue, and where no threads are left.

import CVow
import XCTest

@testable import VowCore

/// A program's own executor, driven by hand.
private final class Hand: @unchecked Sendable {
    var work:
        [(run: @convention(c) (UnsafeMutableRawPointer) -> Void, item: UnsafeMutableRawPointer)] =
            []
    var runsAtOnce = false
    var isHere = false
    var depths: [Int32] = []
    var destroyed = 0

    func runAll() {
        while !work.isEmpty {
            let (run, item) = work.removeFirst()
            run(item)
        }
    }

    /// An executor on this hand for as long as the body runs.
    func withExecutor(flags: UInt32 = 0, _ body: (ExecutorPointer) -> Void) {
        var cls = vow_executor_class(
            size: MemoryLayout<vow_executor_class>.size,
            submit: { context, run, item in
                let hand = context!.object(Hand.self)
                hand.depths.append(currentThread().pointee.foreignDepth)
                if hand.runsAtOnce { run(item) } else { hand.work.append((run, item)) }
            }, current: { $0!.object(Hand.self).isHere },
            destroy: { $0!.object(Hand.self).destroyed += 1 }, flags: flags)
        withUnsafePointer(to: &cls) { cls in
            let executor = makeCustomExecutor(cls, pointer(to: self))!
            body(executor)
            executor.release(currentThread())
        }
        XCTAssertEqual(destroyed, 1)
    }
}

final class SubmitTests: CoreTest {
    private let note: Handler = { input, context in
        context!.object(Journal.self).write(Int(input.as.integer))
        return input
    }

    func testAnExecutorOfTheProgramsOwnGetsEachWorkOnceAndRunsItLater() {
        let hand = Hand()
        let journal = Journal()
        hand.withExecutor { executor in
            let promise = openPromise()
            let links = (0..<3).map { _ in branch(promise, on: executor, with: journal, note) }
            XCTAssertEqual(hand.work.count, 0)
            resolveLast(promise, vow_int(4))
            XCTAssertEqual(hand.work.map { RecordPointer(OpaquePointer($0.item)) }, links)
            XCTAssertEqual(hand.depths, [1, 1, 1])
            XCTAssertEqual(journal.entries, [])
            hand.runAll()
            XCTAssertEqual(journal.entries, [4, 4, 4])
            for link in links { drop(link) }
            drop(promise)
        }
    }

    func testG4_workThatIsRunInsideSubmitIsPutOffToTheEndOfTheCall() {
        let hand = Hand()
        hand.runsAtOnce = true
        hand.withExecutor { executor in
            let journal = Journal()
            let promise = makePromise(of: vow_int(1), thread)
            let derived = react(
                to: promise,
                Reaction(
                    shape: [.link, .onFulfilled], handler: note, context: pointer(to: journal),
                    executor: executor), thread)
            XCTAssertEqual(journal.entries, [])
            XCTAssertEqual(members(thread.pointee.agenda.ready), [derived])
            leave(thread)
            XCTAssertEqual(journal.entries, [1])
            drop(derived)
        }
    }

    func testAnExecutorLivesUntilItsWorkIsGone() {
        let hand = Hand()
        let journal = Journal()
        hand.withExecutor { executor in
            drop(link(makePromise(of: vow_int(1), thread), on: executor, with: journal, note))
            XCTAssertEqual(executor.pointee.counts.loadAcquire(), 2)
            executor.release(thread)
            XCTAssertEqual(hand.destroyed, 0)
            executor.retain()
            hand.runAll()
            XCTAssertEqual(journal.entries, [1])
            XCTAssertEqual(hand.destroyed, 0)
            XCTAssertEqual(executor.pointee.counts.loadAcquire(), 1)
        }
    }

    func testG11_waitingWhereOnesOwnWorkMustRunIsRefused() {
        let hand = Hand()
        hand.withExecutor(flags: VOW_SERIAL) { executor in
            let promise = link(makePromise(of: vow_none(), thread), on: executor) { _, _ in
                vow_none()
            }
            XCTAssertEqual(waitFor(promise, nanoseconds: 1_000_000), .timedOut)
            hand.isHere = true
            XCTAssertEqual(waitFor(promise, nanoseconds: 60_000_000_000), .deadlock)
            hand.isHere = false
            hand.runAll()
            expectSettled(promise)
            drop(promise)
        }
    }

    func testEachHandlerOnADispatchQueueIsADispatchOfItsOwn() {
        let queue = WorkQueue.serial(label: "plain")!
        for flags in [UInt32(0), VOW_BARRIER] {
            let executor = makeDispatchExecutor(queue, flags: flags, thread)!
            XCTAssertFalse(executor.pointee.isSerial)
            let journal = Journal()
            let gate = Signal()
            queue.submit(pointer(to: gate)) { $0!.object(Signal.self).receive() }
            let first = link(makePromise(of: vow_int(1), thread), on: executor, with: journal, note)
            queue.submit(pointer(to: journal)) { $0!.object(Journal.self).write(-1) }
            let second = link(
                makePromise(of: vow_int(2), thread), on: executor, with: journal, note)
            gate.send()
            expectSettled(second)
            XCTAssertEqual(journal.entries, [1, -1, 2])
            drop(first, second)
            executor.release(thread)
        }
        queue.release()
    }

    func testInAForkedChildWorkForDispatchQueuesIsRejectedAndOtherWorkRuns() {
        let serial = makeSerialExecutor(label: nil)!
        let hand = Hand()
        hand.withExecutor { own in
            forkedFlag.storeRelaxed(1)
            refusalFlag.storeRelaxed(1)
            for executor in [ownExecutors.pool, serial] {
                let witness = Journal()
                let derived = linkWithExtras(
                    makePromise(of: vow_none(), thread), on: executor, context: witness,
                    fulfilled: { _, _ in vow_int(1) },
                    destroy: { $0!.object(Journal.self).write(0) })
                XCTAssertEqual(code(of: derived.value), Int64(VOW_EFORKED))
                XCTAssertEqual(witness.entries, [0])
                dropObserved(derived)
            }
            for executor in [ownExecutors.inline, own] {
                let derived = link(makePromise(of: vow_none(), thread), on: executor) { _, _ in
                    vow_int(1)
                }
                hand.runAll()
                XCTAssertEqual(derived.value.as.integer, 1)
                drop(derived)
            }
            forkedFlag.storeRelaxed(0)
            refusalFlag.storeRelaxed(0)
        }
        serial.release(thread)
    }
}
