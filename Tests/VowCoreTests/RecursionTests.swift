// Tests recursion through adoption: a loop that returns a promise of its next round stays flat.

import CVow
import XCTest

@testable import VowCore

/// A loop of handlers, each returning the promise of the next round.
private final class Loop {
    var left: Int
    let executor: ExecutorPointer
    /// How many promises lived, now and then.
    private var samples: [UInt64] = []
    private let before: UInt64

    init(rounds: Int, on executor: ExecutorPointer) {
        left = rounds
        self.executor = executor
        before = Holdings().live
    }

    func next() -> vow_value {
        if left % 500 == 0 { samples.append(Holdings().live &- before) }
        left -= 1
        if left == 0 { return vow_int(1) }
        let thread = currentThread()
        return asValue(link(makePromise(of: vow_none(), thread), on: executor, with: self, round))
    }

    /// A loop that is not flat has half of its rounds alive at the middle sample. The worst sample says
    /// nothing where several threads work: a sum over them that is interrupted is far off.
    var usuallyLive: UInt64 { samples.sorted()[samples.count / 2] }
}

private let round: Handler = { _, context in context!.object(Loop.self).next() }

final class RecursionTests: CoreTest {
    private func check(rounds: Int, on executor: ExecutorPointer) {
        let loop = Loop(rounds: rounds, on: executor)
        let end = link(makePromise(of: vow_none(), thread), on: executor, with: loop, round)
        XCTAssertEqual(wait(for: end), .settled)
        XCTAssertEqual(end.value.as.integer, 1)
        XCTAssertEqual(loop.left, 0)
        XCTAssertLessThan(loop.usuallyLive, 32)
        drop(end)
    }

    private func wait(for end: RecordPointer) -> WaitResult {
        waitFor(end, nanoseconds: 60_000_000_000)
    }

    func testG7_veryManyRoundsKeepTheNumberOfLivePromisesConstant() {
        let rounds = manyOf(50_000, full: 1_000_000)
        Worker(stack: 64 * 1024) { self.check(rounds: rounds, on: ownExecutors.inline) }.join()
    }

    func testG7_roundsOnASerialQueueStayFlat() {
        let queue = makeSerialExecutor(label: "loop")!
        check(rounds: manyOf(20_000, full: 100_000), on: queue)
        queue.release(thread)
    }

    /// A round may begin on another worker before the one before it has been adopted.
    func testG7_roundsThatOverlapOnThePoolStayFlat() {
        check(rounds: manyOf(20_000, full: 100_000), on: ownExecutors.pool)
    }

    func testG7_aLoopThatNobodyWaitsForEndsAndLeavesNothing() {
        let loop = Loop(rounds: 10_000, on: ownExecutors.inline)
        drop(link(makePromise(of: vow_none(), thread), with: loop, round))
        XCTAssertEqual(loop.left, 0)
        XCTAssertLessThan(loop.usuallyLive, 32)
    }
}
