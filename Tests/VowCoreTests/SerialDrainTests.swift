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
}
