// An event loop as the executor of an actor.

import CVow
import Dispatch
import Synchronization

extension PromiseLoop: SerialExecutor {
    /// Runs a job of an actor inside of ``runOnce(timeout:)`` and the like, in order with the loop's handlers.
    ///
    /// ```swift
    /// actor Session {
    ///     let loop: PromiseLoop
    ///     nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// }
    /// ```
    ///
    /// The actor keeps the loop, and its jobs wait there until the program runs it. That is so also behind
    /// ``PromiseRuntime/shutDown(timeout:)``, which ends the pool and no loop: a program that goes on to use its actors goes on
    /// to run their loop. Of a loop that has ended, and in a forked child, jobs run elsewhere, one at a time, so that no
    /// task waits for ever.
    public func enqueue(_ job: consuming ExecutorJob) {
        let work = LoopJob(UnownedJob(job), on: asUnownedSerialExecutor())
        Promise<Void, any Error>.work(on: executor, LoopWork(job: work))
            .catch(on: .inline) { _ in }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Whether this thread is running a handler or a job of the loop.
    public func isIsolatingCurrentContext() -> Bool? { PromiseExecutor.current == executor }

    public func checkIsolated() {
        precondition(
            isIsolatingCurrentContext() == true, "this is not the thread of the event loop")
    }
}

/// One job, which is run once.
private final class LoopJob: Sendable {
    private let job: UnownedJob
    private let executor: UnownedSerialExecutor
    private let isTaken = Atomic(false)

    init(_ job: UnownedJob, on executor: UnownedSerialExecutor) {
        (self.job, self.executor) = (job, executor)
    }

    deinit {
        if isTaken.load(ordering: .acquiring) { return }
        let (job, executor) = (job, executor)
        leftBehind.async { job.runSynchronously(on: executor) }
    }

    func run() {
        if !isTaken.exchange(true, ordering: .acquiringAndReleasing) {
            job.runSynchronously(on: executor)
        }
    }
}

/// For jobs of loops that run nothing any more.
private let leftBehind = DispatchQueue(label: "vow.left-behind")

private struct LoopWork: Reactor {
    let job: LoopJob

    func react(to _: vow_value) -> vow_value {
        job.run()
        return vow_none()
    }
}
