// Tests serial executors: one dispatch carries many handlers, in order, with turns for other work.

import CVow
import XCTest

@testable import VowCore

/// A serial dispatch queue that stands still until it is told to go.
private final class HeldQueue {
    let queue = WorkQueue.serial(label: "held")!
    let executor: ExecutorPointer
    let journal = Journal()
    private let gate = Signal()

    init() {
        executor = makeDispatchExecutor(queue, flags: VOW_SERIAL, currentThread())!
        queue.submit(pointer(to: gate)) { $0!.object(Signal.self).receive() }
    }

    func go() { gate.send() }

    /// Other work of the program on the same queue: writes -1.
    func addMarker() {
        queue.submit(pointer(to: journal)) { $0!.object(Journal.self).write(-1) }
    }

    func addHandlers(_ numbers: Range<Int>) {
        for number in numbers {
            drop(
                link(
                    makePromise(of: vow_int(Int64(number)), currentThread()), on: executor,
                    with: journal
                ) {
                    input, context in
                    context!.object(Journal.self).write(Int(input.as.integer))
                    return input
                })
        }
    }

    /// Waits for so many entries, and gives everything back.
    func finish(_ count: Int) {
        eventually("\(count) entries are written") { self.journal.entries.count == count }
        executor.release(currentThread())
        queue.release()
    }
}

final class SerialDrainTests: CoreTest {
    func testOneDispatchCarriesManyHandlers() {
        let held = HeldQueue()
        held.addHandlers(0..<1)
        held.addMarker()
        held.addHandlers(1..<100)
        held.go()
        held.finish(101)
        // With a dispatch for each, the marker would be second.
        XCTAssertEqual(held.journal.entries, Array(0..<100) + [-1])
        XCTAssertEqual(held.journal.threads.count, 1)
    }

    func testAfter1024HandlersOtherWorkOfTheQueueGetsItsTurn() {
        let held = HeldQueue()
        held.addHandlers(0..<1)
        held.addMarker()
        held.addHandlers(1..<1100)
        held.go()
        held.finish(1101)
        XCTAssertEqual(
            held.journal.entries, Array(0..<1024) + [-1] + Array(1024..<1100))
    }

    func testG2_theHandlersOfOnePromiseTravelInOnePushBehindWhatIsThere() {
        let held = HeldQueue()
        held.addHandlers(0..<3)
        let promise = openPromise()
        let links = (0..<5).map { _ in
            branch(promise, on: held.executor, with: held.journal) { _, context in
                let own = currentThread().pointee.frame!.pointee.reaction
                let pushed = context!.object(Journal.self)
                pushed.write(Int(bitPattern: UnsafeRawPointer(own)))
                return vow_none()
            }
        }
        resolveLast(promise, vow_none())
        held.addHandlers(8..<10)
        held.go()
        held.finish(10)
        XCTAssertEqual(
            held.journal.entries,
            [0, 1, 2] + links.map { Int(bitPattern: UnsafeRawPointer($0)) } + [8, 9])
        for link in links { drop(link) }
        drop(promise)
    }

    func testWhatHasRunGivesItsReferencesToTheExecutorBackTogether() {
        let held = HeldQueue()
        for _ in 0..<5 {
            drop(
                link(makePromise(of: vow_none(), thread), on: held.executor, with: held.journal) {
                    _, context in
                    let place = currentThread().pointee.place!
                    let journal = context!.object(Journal.self)
                    journal.write(Int(place.pointee.runs))
                    journal.write(Int(place.pointee.executor.pointee.counts.loadAcquire()))
                    return vow_none()
                })
        }
        XCTAssertEqual(held.executor.pointee.counts.loadAcquire(), 7)
        held.go()
        eventually("the drain has ended") {
            held.executor.pointee.counts.loadAcquire() == 1
        }
        // The handle, the drain, and the five.
        XCTAssertEqual(held.journal.entries, [0, 7, 1, 7, 2, 7, 3, 7, 4, 7])
        held.finish(10)
    }

    func testAChainOnOneQueueTakesOneHop() {
        let held = HeldQueue()
        let root = openPromise()
        var end = root
        for _ in 0..<100 {
            end = link(end, on: held.executor, with: held.journal) { input, context in
                context!.object(Journal.self).write(Int(input.as.integer))
                return vow_int(input.as.integer + 1)
            }
        }
        resolveLast(root, vow_int(0))
        held.addMarker()
        held.go()
        held.finish(101)
        XCTAssertEqual(held.journal.entries, Array(0..<100) + [-1])
        expectSettled(end)
        XCTAssertEqual(end.value.as.integer, 100)
        drop(end)
    }

    func testG2_handlersMadeByAHandlerComeBehindThoseFromOutside() {
        let held = HeldQueue()
        drop(
            link(makePromise(of: vow_none(), thread), on: held.executor, with: held) { _, context in
                let held = context!.object(HeldQueue.self)
                held.journal.write(0)
                held.addHandlers(2..<3)
                return vow_none()
            })
        held.addHandlers(1..<2)
        held.go()
        held.finish(3)
        XCTAssertEqual(held.journal.entries, [0, 1, 2])
    }

    func testG2_handlersOfManyThreadsRunOneAtATimeAndInOrderPerThread() {
        final class Exclusive: @unchecked Sendable {
            /// Not protected: only one handler at a time touches it.
            var entries: [Int64] = []
        }
        let shared = Exclusive()
        let queue = makeSerialExecutor(label: nil)!
        onThreads(4) { part in
            for index in 0..<500 {
                let promise = makePromise(of: vow_int(Int64(part * 500 + index)), currentThread())
                drop(
                    link(promise, on: queue, with: shared) { input, context in
                        context!.object(Exclusive.self).entries.append(input.as.integer)
                        return input
                    })
            }
        }
        let last = link(makePromise(of: vow_none(), thread), on: queue) { _, _ in vow_none() }
        expectSettled(last)
        XCTAssertEqual(shared.entries.count, 2000)
        for part in 0..<4 {
            let mine = shared.entries.filter { $0 / 500 == part }
            XCTAssertEqual(mine, mine.sorted())
            XCTAssertEqual(mine.count, 500)
        }
        drop(last)
        queue.release(thread)
    }

    func testWorkGivenToAnExecutorStillRunsAfterItsRelease() {
        let held = HeldQueue()
        held.addHandlers(0..<3)
        // The references of the reactions and of the drain under way are enough.
        held.executor.retain()
        held.executor.release(thread)
        held.addMarker()
        held.executor.release(thread)
        held.go()
        eventually("all have run") { held.journal.entries.count == 4 }
        XCTAssertEqual(held.journal.entries, [0, 1, 2, -1])
        held.queue.release()
    }
}
