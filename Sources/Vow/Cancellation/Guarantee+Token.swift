// What cannot fail, with a token: it fails in that one way.

extension Promise where Failure == Never {
    /// The promise of what `transform` makes of the value, unless the token is cancelled before.
    @inlinable
    public func map<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ transform: @escaping @Sendable (Success) -> NewSuccess
    ) -> Promise<NewSuccess, CancellationError> {
        cancellable.map(on: executor, cancelledBy: token) { transform($0) }
    }

    /// The same with a promise that `transform` makes, which is waited for.
    @inlinable
    public func flatMap<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ transform: @escaping @Sendable (Success) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, CancellationError> {
        cancellable.flatMap(on: executor, cancelledBy: token) { transform($0).cancellable }
    }

    /// Goes on with the value, unless the token is cancelled before.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ body: @escaping @Sendable (Success) -> NewSuccess
    ) -> Promise<NewSuccess, CancellationError> {
        map(on: executor, cancelledBy: token, body)
    }

    /// The same with a promise that `body` makes, which is waited for.
    @discardableResult
    @inlinable
    public func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ body: @escaping @Sendable (Success) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, CancellationError> {
        flatMap(on: executor, cancelledBy: token, body)
    }

    /// Goes on with the value to a link that has none, unless the token is cancelled before.
    @discardableResult
    @inlinable
    public func done(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise<Void, CancellationError> {
        map(on: executor, cancelledBy: token, body)
    }

    /// Looks at the value and passes it on, unless the token is cancelled before.
    @inlinable
    public func get(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken?,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise<Success, CancellationError> {
        map(on: executor, cancelledBy: token) { value in
            body(value)
            return value
        }
    }

    @inlinable
    var cancellable: Promise<Success, CancellationError> { retyped() }
}
