// Serial dispatch queues of the program, each with one executor.

public import Dispatch

extension PromiseExecutor {
    /// An executor on a serial queue: handlers run strictly one at a time and in order.
    ///
    /// Handlers travel to the queue together. A wait in a handler for work that must run on the same queue is refused
    /// with ``PromiseError/deadlock``; in a block that the program itself sends to the queue such a wait is not
    /// recognised. All calls for one queue give the same executor, while it has a reference; for the main queue,
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

/// A queue's executor, in the queue's own memory.
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
