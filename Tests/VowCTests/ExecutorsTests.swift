// Tests chapter 6 of vow.h: where handlers run, and async.

import CVow
import Dispatch
import XCTest

/// The C handle inside Dispatch's Swift object.
private func handle(of queue: DispatchQueue) -> UnsafeMutableRawPointer {
    let wrapped = Mirror(reflecting: queue).children.first { $0.label == "__wrapped" }
    return UnsafeMutableRawPointer(wrapped?.value as! OpaquePointer)
}

private let key = DispatchSpecificKey<Int>()

/// Hands on the number of the queue that it runs on.
private func whereAmI(_: vow_value, _: UnsafeMutableRawPointer?) -> vow_value {
    vow_int(Int64(DispatchQueue.getSpecific(key: key) ?? 0))
}

private func noteKind(_ input: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    context!.object(Journal.self).write(Int(input.kind))
    return vow_int(5)
}

/// A program's own executor, driven by hand.
private final class Hand {
    var work:
        [(run: @convention(c) (UnsafeMutableRawPointer) -> Void, item: UnsafeMutableRawPointer)] =
            []
    let destroyed = Counter()

    func runAll() {
        while !work.isEmpty {
            let (run, item) = work.removeFirst()
            run(item)
        }
    }
}

final class ExecutorsTests: CTest {
    override func tearDown() {
        vow_executor_set_default(nil)
        super.tearDown()
    }

    func testTheBuiltInExecutorsAreAlwaysTheSame() {
        let own = [vow_executor_inline(), vow_executor_pool(), vow_executor_main()]
        XCTAssertEqual(Set(own).count, 3)
        XCTAssertEqual(own, [vow_executor_inline(), vow_executor_pool(), vow_executor_main()])
        for executor in own {
            XCTAssertEqual(vow_executor_retain(executor), executor)
            for _ in 0..<3 { vow_executor_release(executor) }
        }
    }

    func testAsyncRunsOnTheExecutorAndGivesItsResult() {
        let thread = Journal()
        XCTAssertEqual(
            outcome(of: vow_async(vow_executor_inline(), noteKind, pointer(to: thread))),
            .integer(5))
        XCTAssertEqual(thread.entries, [Int(VOW_NONE)])
        XCTAssertEqual(thread.threads, [pthread_self()])
        let elsewhere = Journal()
        XCTAssertEqual(outcome(of: vow_async(nil, noteKind, pointer(to: elsewhere))), .integer(5))
        XCTAssertFalse(elsewhere.threads.contains(pthread_self()))
        XCTAssertEqual(outcome(of: vow_async(nil, { _, _ in failure(3) }, nil)), .error(3))
    }

    func testHandlersRunOnTheProgramsOwnQueues() {
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        serial.setSpecific(key: key, value: 1)
        concurrent.setSpecific(key: key, value: 2)
        for (queue, flags, number) in [
            (serial, UInt32(0), Int64(1)), (serial, VOW_SERIAL, 1), (serial, VOW_BARRIER, 1),
            (concurrent, 0, 2), (concurrent, VOW_BARRIER, 2),
        ] {
            let executor = vow_executor_dispatch(handle(of: queue), flags)!
            XCTAssertEqual(outcome(of: vow_async(executor, whereAmI, nil)), .integer(number))
            vow_executor_release(executor)
        }
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), 4))
        XCTAssertNil(vow_executor_dispatch(handle(of: serial), VOW_SERIAL | VOW_BARRIER))
    }

    func testABarrierHasTheConcurrentQueueForItself() {
        final class Readers: @unchecked Sendable {
            let now = Counter()
            let sawOthers = Counter()
        }
        let readers = Readers()
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        let executor = vow_executor_dispatch(handle(of: queue), VOW_BARRIER)!
        var barriers: [OpaquePointer] = []
        for index in 0..<200 {
            if index % 5 != 0 {
                queue.async {
                    readers.now.add(1)
                    readers.now.add(-1)
                }
                continue
            }
            barriers.append(
                vow_async(
                    executor,
                    { _, context in
                        let readers = context!.object(Readers.self)
                        for _ in 0..<20 where readers.now.value != 0 { readers.sawOthers.add() }
                        return vow_none()
                    }, pointer(to: readers)))
        }
        for barrier in barriers { XCTAssertEqual(outcome(of: barrier), .other(VOW_NONE)) }
        XCTAssertEqual(readers.sawOthers.value, 0)
        vow_executor_release(executor)
        queue.sync(flags: .barrier) {}
    }

    func testASuspendedQueueHoldsItsHandlersUntilItGoesOn() {
        let queue = DispatchQueue(label: "suspended")
        let executor = vow_executor_dispatch(handle(of: queue), VOW_SERIAL)!
        queue.suspend()
        let journal = Journal()
        let end = vow_async(executor, note, pointer(to: journal))
        XCTAssertEqual(vow_await(end, 5_000_000, nil), Int32(VOW_PENDING))
        XCTAssertEqual(journal.entries, [])
        queue.resume()
        XCTAssertEqual(outcome(of: end), .other(VOW_NONE))
        XCTAssertEqual(journal.entries.count, 1)
        vow_executor_release(executor)
    }

    /// An executor of the program's own for as long as the body runs.
    private func withCustom(
        _ hand: Hand, size: Int = MemoryLayout<vow_executor_class>.size, flags: UInt32 = 0,
        _ body: (OpaquePointer?) -> Void
    ) {
        var cls = vow_executor_class(
            size: size,
            submit: { context, run, item in context!.object(Hand.self).work.append((run, item)) },
            current: nil, destroy: { $0!.object(Hand.self).destroyed.add() }, flags: flags)
        withUnsafePointer(to: &cls) { body(vow_executor_custom($0, pointer(to: hand))) }
    }

    func testAProgramsOwnExecutorRunsItsWorkWhenItLikes() {
        let hand = Hand()
        withCustom(hand) { executor in
            let journal = Journal()
            let first = link(
                vow_promise_with(vow_int(1)), on: executor, context: pointer(to: journal),
                fulfilled: note)
            let second = vow_async(executor, addOne, nil)
            XCTAssertEqual(hand.work.count, 2)
            vow_executor_release(executor)
            XCTAssertEqual(hand.destroyed.value, 0)
            XCTAssertEqual(journal.entries, [])
            hand.runAll()
            XCTAssertEqual(journal.entries, [1])
            XCTAssertEqual(hand.destroyed.value, 1)
            XCTAssertEqual(outcome(of: first), .integer(1))
            XCTAssertEqual(outcome(of: second), .integer(1))
        }
    }
}
