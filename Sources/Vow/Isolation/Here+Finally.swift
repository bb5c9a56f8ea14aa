// Handlers that run where they were written: finally.

import CVow

extension Promise {
    /// `finally` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) () throws(Failure) -> Void
    ) -> Promise {
        let place = WrittenAction(written: written)
        let body = place.plain.body
        return react(.finally, on: place.executor, token, Finally(body: body))
    }

    /// `finally` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) () throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        let place = WrittenMaker(written: written)
        let body = place.plain.body
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }

    /// `finally` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) () throws(Failure) -> Promise<Ignored, Never>
    ) -> Promise {
        let place = WrittenMaker(written: written)
        let body = place.plain.body
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }

    /// `finally` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) () throws(Failure) -> Promise<Ignored, Other>
    ) -> Promise<Success, any Error> {
        let place = WrittenMaker(written: written)
        let body = place.plain.body
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }
}

extension Promise where Failure == Never {
    /// `finally` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) () -> Promise<Ignored, NewFailure>
    ) -> Promise<Success, NewFailure> {
        let place = SureMaker(written: written)
        let body = place.plain.body
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }
}
