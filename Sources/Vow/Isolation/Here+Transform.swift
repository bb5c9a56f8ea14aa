// Handlers that run where they were written: transform.

import CVow

extension Promise {
    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that make promises or results.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (),
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(Failure) ->
            NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = Written(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, ResultMapping(transform: body))
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that do not say it.
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (), changing _: Void = (),
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(NewFailure) ->
            NewSuccess
    ) -> Promise<NewSuccess, NewFailure> {
        let place = Written(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, ResultMapping(transform: body))
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(Failure)
            -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, ResultFlatMapping(transform: body))
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Promise<
                NewSuccess, NewFailure
            >
    ) -> Promise<NewSuccess, NewFailure> {
        let place = SurePromise(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, ResultFlatMapping(transform: body))
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func transform<NewSuccess, Other>(
        cancelledBy token: CancellationToken? = nil,
        joining _: Void = (),
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws -> Promise<
                NewSuccess, Other
            >
    ) -> Promise<NewSuccess, any Error> {
        let place = TryingPromise(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, ResultFlatMapping(transform: body))
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(Failure)
            -> Result<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let place = Written(written: written)
        let body = place.plain.body
        return transform(on: place.executor, cancelledBy: token) { result throws(Failure) in
            try body(result).get()
        }
    }

    /// `transform` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that do not say so.
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Result<
                NewSuccess, NewFailure
            >
    ) -> Promise<NewSuccess, NewFailure> {
        let place = Sure(written: written)
        let body = place.plain.body
        return transform(on: place.executor, cancelledBy: token) { result throws(NewFailure) in
            try body(result).get()
        }
    }
}
