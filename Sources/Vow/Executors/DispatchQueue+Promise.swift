// Promises of work on dispatch queues.

public import Dispatch

extension DispatchQueue {
    /// Runs `body` on the queue, and returns the promise of its result. An error thrown by `body` rejects it. Handlers
    /// that `body` attaches run on the queue, too. The other arguments are those of `async`.
    @_disfavoredOverload  // A promise would become a promise of a promise.
    public func promise<Success: Sendable, Failure>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) -> Promise<Success, Failure> {
        Promise(on: .queue(self, group: group, qos: qos, flags: flags), body)
    }

    /// The same with a promise made by `body`, which the result follows.
    public func promise<Success, Other: Error>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        _ body: @escaping @Sendable () throws -> Promise<Success, Other>
    ) -> Promise<Success, any Error> {
        Promise(on: .queue(self, group: group, qos: qos, flags: flags), body)
    }
}
