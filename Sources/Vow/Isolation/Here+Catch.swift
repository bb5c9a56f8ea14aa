// Handlers that run where they were written: done and catch.

import CVow

extension Promise {
    /// `catch` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func `catch`(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Failure) -> Void
    ) -> Promise<Void, Never> {
        let place = SureVoid(written: written)
        let body = place.plain.body
        return react(.onBoth, on: place.executor, token, Ending(body: body))
    }

    /// `done` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public consuming func done(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        let place = WrittenVoid(written: written)
        let body = place.plain.body
        return react(.onFulfilled, on: place.executor, token, Doing(body: body))
    }
}

extension Promise where Failure == any Error {
    /// `catch` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @discardableResult
    @inlinable
    public func `catch`(
        policy: CatchPolicy,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (any Error) -> Void
    ) -> Promise<Void, Never> {
        let place = SureOfErrors(written: written)
        let body = place.plain.body
        return `catch`(on: place.executor, policy: policy, body)
    }
}
