// Handlers that run where they were written: map, flatMap and then.

import CVow

extension Promise {
    /// `map` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = Written(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, Mapping(transform: transform))
    }

    /// `map` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = Sure(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, SureMapping(transform: transform))
    }

    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func flatMap<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = WrittenPromise(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = Written(written: written)
        let body = place.plain.body
        return map(on: place.executor, cancelledBy: token, body)
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return flatMap(on: place.executor, cancelledBy: token, body)
    }
}
