// Handlers of a promise that cannot be rejected.

import CVow

extension Promise where Failure == Never {
    /// The promise of the closure's result for the value.
    @inlinable
    public consuming func map<NewSuccess>(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Success) -> NewSuccess
    ) -> Promise<NewSuccess, Never> {
        react(.onFulfilled, on: executor, nil, Mapping(Sure(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func map<NewSuccess>(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Success) -> NewSuccess
    ) -> Promise<NewSuccess, Never> {
        let here = Sure.Here(body)
        return react(.onFulfilled, on: here.executor, nil, Mapping(here.plain))
    }

    /// Follows the promise that the closure returns for the value, whose failure is that of the new one, too.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure>(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(
            .onFulfilled, on: executor, nil,
            Joining(SurePromise(body), failingWith: NewFailure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        let here = SurePromise.Here(body)
        return react(
            .onFulfilled, on: here.executor, nil, Joining(here.plain, failingWith: NewFailure.self))
    }

    /// Uses the value; the new promise has none.
    @discardableResult
    @inlinable
    public consuming func done(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise<Void, Never> {
        react(.onFulfilled, on: executor, nil, Mapping(SureVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func done(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise<Void, Never> {
        let here = SureVoid.Here(body)
        return react(.onFulfilled, on: here.executor, nil, Mapping(here.plain))
    }

    /// Looks at the value and passes it on.
    @inlinable
    public consuming func get(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise {
        react(.onFulfilled, on: executor, nil, Getting(SureVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func get(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        return react(.onFulfilled, on: here.executor, nil, Getting(here.plain))
    }

    /// Runs the closure after the value is there, and passes the value on when the promise that the closure returns is settled;
    /// its failure takes the value's place.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, NewFailure>(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable () -> Promise<Ignored, NewFailure>
    ) -> Promise<Success, NewFailure> {
        react(
            .finally, on: executor, nil,
            FinishingByJoining(SureEndPromise(body), failingWith: NewFailure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, NewFailure>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () -> Promise<Ignored, NewFailure>
    ) -> Promise<Success, NewFailure> {
        let here = SureEndPromise.Here(body)
        return react(
            .finally, on: here.executor, nil,
            FinishingByJoining(here.plain, failingWith: NewFailure.self))
    }
}
