// Dispatch queues.

public import Dispatch

extension PromiseExecutor {
    /// Sends each handler to a queue, as `queue.async` does with the same arguments.
    ///
    /// On a serial queue, handlers run in order; a wait that blocks it is recognised only with ``serialQueue(_:)``.
    public static func queue(
        _ queue: DispatchQueue, group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = []
    ) -> PromiseExecutor {
        let flags = flags.rawValue  // A number, which every thread may have.
        return make(isSerial: false) { work in
            let flags = DispatchWorkItemFlags(rawValue: flags)
            queue.async(group: group, qos: qos, flags: flags) { work() }
        }
    }

    /// Sends each handler to a concurrent queue as a barrier: it has the queue for itself. A wait in one for another of
    /// this executor is refused with ``PromiseError/deadlock``.
    public static func barrier(_ queue: DispatchQueue) -> PromiseExecutor {
        make(isSerial: true) { work in queue.async(flags: .barrier) { work() } }
    }

    /// A global queue: handlers run in parallel.
    public static func global(qos: DispatchQoS.QoSClass = .default) -> PromiseExecutor {
        .queue(.global(qos: qos))
    }
}
