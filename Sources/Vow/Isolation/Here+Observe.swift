// Handlers that run where they were written: get, tap and the observers.

import CVow

extension Promise {
    /// `get` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func get(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Void
    ) -> Promise {
        let place = WrittenVoid(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, Getting(body: body))
    }

    /// `tap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func tap(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Void
    ) -> Promise {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, Tapping(body: body))
    }

    /// `onComplete` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func onComplete(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Void
    ) -> Promise {
        let place = SureVoid(written: written)
        let body = place.plain.body
        completed(token).observe(on: place.executor, nil, Observing(body: body))
        return self
    }

    /// `onSuccess` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func onSuccess(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return observe(.onBothForValue, on: place.executor, token, ObservingValue(body: body))
    }

    /// `onFailure` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func onFailure(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Failure) -> Void
    ) -> Promise {
        let place = SureVoid(written: written)
        let body = place.plain.body
        completed(token).observe(
            on: place.executor, nil, Catching<Success, Failure>(body: body))
        return self
    }
}

extension Promise where Failure == any Error {
    /// `onFailure` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func onFailure<Caught: Error>(
        of _: Caught.Type,
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Caught) -> Void
    ) -> Promise {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return onFailure(on: place.executor, cancelledBy: token) { error in
            if let caught = error as? Caught { body(caught) }
        }
    }
}
