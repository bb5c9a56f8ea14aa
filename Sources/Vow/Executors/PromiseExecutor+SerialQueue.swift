// Serial dispatch queues of the program, each with one executor.

public import Dispatch

extension PromiseExecutor {
    /// Runs handlers on a serial queue, strictly one at a time and in order.
    ///
    /// Handlers travel to it together. A wait in one of them for work that must run on the same queue is refused with
    /// ``PromiseError/deadlock``; in a block that the program itself sends to the queue such a wait is not recognised.
    /// As long as somebody has the executor, it is the same one however often it is asked for. The main queue's is
    /// ``main``.
    public static func serialQueue(_ queue: DispatchQueue) -> PromiseExecutor {
        _ = mainQueueIsKnown
        return lock.withLock { _ in
            let known = queue.getSpecific(key: executorKey)
            if let executor = known?.executor { return executor }
            let executor = Lane { lane in queue.async { lane.drain() } }.executor
            if let known {
                known.remember(executor)
            } else {
                queue.setSpecific(key: executorKey, value: KnownExecutor(executor, isKept: false))
            }
            return executor
        }
    }
}

private let lock = Guarded(())
private let executorKey = DispatchSpecificKey<KnownExecutor>()
private let mainQueueIsKnown: Void = DispatchQueue.main.setSpecific(
    key: executorKey, value: KnownExecutor(.main, isKept: true))

/// The executor of a queue, among what the queue itself remembers.
private final class KnownExecutor: Sendable {
    private struct State {
        weak var handle: Handle?
        var kept: Handle?
    }

    private let state: Guarded<State>

    init(_ executor: PromiseExecutor, isKept: Bool) {
        state = Guarded(State(handle: executor.handle, kept: isKept ? executor.handle : nil))
    }

    var executor: PromiseExecutor? {
        state.withLock { $0.handle }.map { PromiseExecutor(handle: $0) }
    }

    func remember(_ executor: PromiseExecutor) {
        state.withLock { $0.handle = executor.handle }
    }
}
