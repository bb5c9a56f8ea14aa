// Promises of work on dispatch queues.

public import Dispatch

extension DispatchQueue {
    /// Runs `body` on the queue; the promise of what it returns. What it throws rejects. Handlers that it attaches run
    /// on the queue, too. The other arguments are those of `async`.
    // Taken less than the others, because of what calls leave out: nobody wants promises of promises.
    @_disfavoredOverload
    public func promise<Success: Sendable, Failure>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        joining _: Void = (), failing _: Void = (),
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) -> Promise<Success, Failure> {
        Promise(on: .queue(self, group: group, qos: qos, flags: flags), body)
    }

    /// The same with a promise that `body` makes, which is waited for.
    public func promise<Success, Failure>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        _ body: @escaping @Sendable () throws(Failure) -> Promise<Success, Failure>
    ) -> Promise<Success, Failure> {
        Promise(on: .queue(self, group: group, qos: qos, flags: flags), body)
    }

    /// The same; of a body that does not throw, the failure is that of its promise.
    @_disfavoredOverload
    public func promise<Success, Failure>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [],
        _ body: @escaping @Sendable () -> Promise<Success, Failure>
    ) -> Promise<Success, Failure> {
        Promise(on: .queue(self, group: group, qos: qos, flags: flags), body)
    }

    /// The same with a promise whose failure is of another type than what `body` throws.
    @_disfavoredOverload
    public func promise<Success, Failure>(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified,
        flags: DispatchWorkItemFlags = [], joining _: Void = (),
        _ body: @escaping @Sendable () throws -> Promise<Success, Failure>
    ) -> Promise<Success, any Error> {
        Promise(
            on: .queue(self, group: group, qos: qos, flags: flags),
            body)
    }
}
