// Tests loops through the core's own functions: whose a loop is, when its event is raised, what a wait on its
// thread costs.

import CVow
import CVowPlatform
import XCTest

@testable import VowCore

final class LoopTests: CoreTest {
    private func isReadable(_ loop: LoopPointer) -> Bool {
        vow_platform_sleep(loop.pointee.set, 0) != 0
    }

    private func submit(_ count: Int, to loop: LoopPointer) {
        for _ in 0..<count {
            drop(
                link(makePromise(of: vow_none(), thread), on: loop.pointee.executor) { input, _ in
                    input
                })
        }
    }

    func testOneEventCarriesManyHandlers() {
        let loop = makeLoop(isVirtual: false, thread)!
        submit(1, to: loop)
        vow_platform_lower(loop.pointee.event)
        submit(100, to: loop)
        XCTAssertFalse(isReadable(loop))
        XCTAssertEqual(runOnce(loop, until: .after(0), thread), 101)
        submit(1, to: loop)
        XCTAssertTrue(isReadable(loop))
        XCTAssertEqual(runOnce(loop, until: .after(0), thread), 1)
        destroyLoop(loop, thread)
    }

    func testTheNewestLoopOfAThreadIsItsHomeUntilItIsDestroyed() {
        let first = makeLoop(isVirtual: false, thread)!
        let second = makeLoop(isVirtual: false, thread)!
        let third = makeLoop(isVirtual: false, thread)!
        func home() -> LoopPointer? {
            let loop = loopHere(thread)
            loop?.release(thread)
            return loop
        }
        XCTAssertEqual(home(), third)
        destroyLoop(second, thread)
        XCTAssertEqual(home(), third)
        destroyLoop(third, thread)
        XCTAssertEqual(home(), first)
        destroyLoop(first, thread)
        XCTAssertNil(home())
    }

    func testAWaitOnALoopAllocatesNothing() {
        let loop = makeLoop(isVirtual: false, thread)!
        let promise = openPromise()
        let cost = Cost.of {
            XCTAssertEqual(
                VowCore.wait(for: promise, until: .after(1_000_000), running: loop, thread),
                .timedOut)
        }
        XCTAssertEqual(cost, Cost())
        resolveLast(promise, vow_none())
        drop(promise)
        destroyLoop(loop, thread)
    }

    func testADelayIsOneAllocation() {
        let loop = makeLoop(isVirtual: true, thread)!
        var delay: RecordPointer?
        let cost = Cost.of { delay = makeDelay(5, thread) }
        XCTAssertEqual(cost.made, 1)
        XCTAssertEqual(cost.taken, UInt64(delay!.producer.pointee.size))
        XCTAssertEqual(advance(loop, by: 5, thread), 1)
        XCTAssertEqual(phase(of: delay!), .settled)
        drop(delay!)
        destroyLoop(loop, thread)
    }

    func testAStoppedTimerNeverFires_andOneThatFiredCannotBeStopped() {
        let loop = makeLoop(isVirtual: true, thread)!
        var node = TimerNode { node, _, _ in node.pointee.deadline = -1 }
        withUnsafeMutablePointer(to: &node) { node in
            XCTAssertEqual(startTimer(node, after: 5, thread), .started)
            XCTAssertTrue(stopTimer(node))
            XCTAssertFalse(stopTimer(node))
            XCTAssertEqual(advance(loop, by: 10, thread), 0)
            XCTAssertEqual(startTimer(node, at: clockNow(thread), thread), .started)
            XCTAssertEqual(runOnce(loop, until: .after(0), thread), 1)
            XCTAssertEqual(node.pointee.deadline, -1)
            XCTAssertFalse(stopTimer(node))
        }
        destroyLoop(loop, thread)
    }

    func testALoopsTimersAreToldThatItShutsDown() {
        let loop = makeLoop(isVirtual: false, thread)!
        var node = TimerNode { node, end, _ in node.pointee.deadline = end == .shutDown ? -1 : -2 }
        withUnsafeMutablePointer(to: &node) { node in
            XCTAssertEqual(startTimer(node, after: 5_000_000_000, thread), .started)
            destroyLoop(loop, thread)
            XCTAssertEqual(node.pointee.deadline, -1)
        }
    }
}
