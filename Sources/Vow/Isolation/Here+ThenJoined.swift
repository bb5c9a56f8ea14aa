// Handlers that run where they were written: flatMap and then, with a promise of another failure type.

import CVow

extension Promise {
    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Never
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = WrittenPromise(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Other
            >
    ) -> Promise<NewSuccess, any Error> {
        let place = WrittenPromise(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Never
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: body))
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Other
            >
    ) -> Promise<NewSuccess, any Error> {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: body))
    }
}

extension Promise where Failure == Never {
    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        let place = SurePromise(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `flatMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        throwing _: NewFailure.Type = NewFailure.self,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(NewFailure) -> Promise<
                NewSuccess, NewFailure
            >
    ) -> Promise<NewSuccess, NewFailure> {
        let place = WrittenPromise(written: written)
        let transform = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        let place = SurePromise(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: body))
    }

    /// `then` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        throwing _: NewFailure.Type = NewFailure.self,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(NewFailure) -> Promise<
                NewSuccess, NewFailure
            >
    ) -> Promise<NewSuccess, NewFailure> {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: body))
    }
}
