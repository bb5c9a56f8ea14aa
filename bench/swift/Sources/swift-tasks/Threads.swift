// W8, W10 and W12: more than one thread.

import Foundation
import Harness
import Synchronization

private let ran = SharedCounter()

/// A thread as an executor.
private final class OwnThread: SerialExecutor, TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let wakeUp = DispatchSemaphore(value: 0)

    init() { Thread.detachNewThread { self.run() } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { wakeUp.signal() }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    private func run() {
        var batch: [UnownedJob] = []
        while true {
            wakeUp.wait()
            jobs.withLock { swap(&$0, &batch) }
            for job in batch {
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            batch.removeAll(keepingCapacity: true)
        }
    }
}

/// W8: two actors, each with a thread of its own; a call of the one from the other is the round trip.
private actor Side {
    nonisolated let thread = OwnThread()
    private var calls = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func pong() -> Int {
        calls += 1
        return calls
    }

    func ping(_ n: Int, _ other: Side) async {
        let before = await other.pong()
        for i in 1..<n { expect(await other.pong() == before + i, "W8") }
    }
}

private let left = Side()
private let right = Side()

@Sendable
func roundTrips(_ n: Int) async { await left.ping(n, right) }

/// W10: one thread registers, the other one settles; handlers run on the pool.
final class Race: @unchecked Sendable {
    private var pending: [Pending] = []

    var workload: Workload {
        .plain(
            prepare: { n in self.pending = (0..<n).map { _ in Pending() } },
            { n in
                duel(n, self.register, against: self.resolve)
                ran.spin(until: n)
                expect(ran.take() == n, "W10")
            })
    }

    private func register(_ n: Int) {
        let pending = pending
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 0, round: i / duelStride) }
            let task = pending[i].task
            Task.immediate {
                _ = await task.value
                ran.add()
            }
        }
    }

    private func resolve(_ n: Int) {
        let pending = pending
        for i in 0..<n {
            if i % duelStride == 0 { duelMeet(side: 1, round: i / duelStride) }
            pending[i].continuation.resume(returning: 1)
        }
    }
}

private let loop = OwnThread()

/// W12: the loop is a thread that runs tasks, the caller submits.
@Sendable
func loopItems(_ n: Int) async {
    let ran = Counter()
    for _ in 1..<n { Task.detached(executorPreference: loop) { ran.add() } }
    await Task.detached(executorPreference: loop) { ran.add() }.value
    expect(ran.take() == n, "W12")
}
