// Going on after a failure that is no cancellation: recover with a policy.

extension Promise where Failure == any Error {
    /// Goes on after the errors that `policy` covers; others pass on.
    ///
    /// With ``CatchPolicy/allErrorsExceptCancellation``, what was cancelled stays cancelled.
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        policy: CatchPolicy, _ body: @escaping @Sendable (any Error) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws in
            if !policy.covers(error) { throw error }
            return try body(error)
        }
    }

    /// The same with a promise that `body` makes, which is waited for.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    public consuming func recover<Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        policy: CatchPolicy,
        _ body: @escaping @Sendable (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise in
            if !policy.covers(error) { throw error }
            return try body(error).eraseFailure()
        }
    }

    /// `recover` by a policy with a closure that runs where it was written: on its actor, or else where a handler attached
    /// here runs.
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil, policy: CatchPolicy,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (any Error) throws -> Success
    ) -> Promise {
        let place = Trying(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token, policy: policy, body)
    }

    /// The same with a promise that the closure makes.
    @_disfavoredOverload
    public consuming func recover<Other: Error>(
        cancelledBy token: CancellationToken? = nil, policy: CatchPolicy,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        let place = TryingPromise(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token, policy: policy, body)
    }
}
