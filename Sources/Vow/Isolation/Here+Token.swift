// Handlers that run where they were written: what cannot fail, with a token.

import CVow

extension Promise where Failure == Never {
    /// `map` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func map<NewSuccess>(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> NewSuccess
    ) -> Promise<NewSuccess, CancellationError> {
        let place = Sure(written: written)
        let transform = place.plain.body
        return cancellable.map(on: place.executor, cancelledBy: token) { transform($0) }
    }

    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func flatMap<NewSuccess>(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, CancellationError> {
        let place = SurePromise(written: written)
        let transform = place.plain.body
        return cancellable.flatMap(on: place.executor, cancelledBy: token) {
            transform($0).cancellable
        }
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> NewSuccess
    ) -> Promise<NewSuccess, CancellationError> {
        let place = Sure(written: written)
        let body = place.plain.body
        return map(on: place.executor, cancelledBy: token, body)
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, CancellationError> {
        let place = SurePromise(written: written)
        let body = place.plain.body
        return flatMap(on: place.executor, cancelledBy: token, body)
    }

    /// `done` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public consuming func done(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise<Void, CancellationError> {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return map(on: place.executor, cancelledBy: token, body)
    }

    /// `get` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func get(
        cancelledBy token: CancellationToken?,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise<Success, CancellationError> {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return map(on: place.executor, cancelledBy: token) { value in
            body(value)
            return value
        }
    }
}
