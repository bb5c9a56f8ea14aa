// Handlers of a promise that errors of one type reject.

import CVow

extension Promise where Failure: PromiseFailure {
    /// The promise of the closure's result for the value. A failure passes by, and the closure is not called.
    @inlinable
    public consuming func map<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, Mapping(Typed(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let here = Typed.Here(body)
        return react(.onFulfilled, on: here.executor, token, Mapping(here.plain))
    }

    /// Follows the promise that the closure returns for the value, whose failure is of the same type. A failure passes
    /// by, and the closure is not called.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        react(
            .onFulfilled, on: executor, token,
            Joining(TypedPromise(body), failingWith: Failure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        let here = TypedPromise.Here(body)
        return react(
            .onFulfilled, on: here.executor, token, Joining(here.plain, failingWith: Failure.self))
    }

    /// Uses the value; the new promise has none.
    @discardableResult
    @inlinable
    public consuming func done(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        react(.onFulfilled, on: executor, token, Mapping(TypedVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func done(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        let here = TypedVoid.Here(body)
        return react(.onFulfilled, on: here.executor, token, Mapping(here.plain))
    }

    /// Calls the closure with the value and passes the value on. An error thrown by the closure rejects.
    @inlinable
    public consuming func get(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Void
    ) -> Promise {
        react(.onFulfilled, on: executor, token, Getting(TypedVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func get(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws(Failure) -> Void
    ) -> Promise {
        let here = TypedVoid.Here(body)
        return react(.onFulfilled, on: here.executor, token, Getting(here.plain))
    }

    /// Goes on after a failure with the value that the closure returns for it.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Success
    ) -> Promise {
        react(.onRejected, on: executor, token, Recovering(Typed(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Failure) throws(Failure) -> Success
    ) -> Promise {
        let here = Typed.Here(body)
        return react(.onRejected, on: here.executor, token, Recovering(here.plain))
    }

    /// Goes on after a failure by following the promise that the closure returns for it, whose failure is of the same type.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Promise
    ) -> Promise {
        react(
            .onRejected, on: executor, token,
            RecoveringByJoining(TypedPromise(body), failingWith: Failure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Failure) throws(Failure) -> Promise
    ) -> Promise {
        let here = TypedPromise.Here(body)
        return react(
            .onRejected, on: here.executor, token,
            RecoveringByJoining(here.plain, failingWith: Failure.self))
    }

    /// The promise of the closure's answer to the result, a value or a failure.
    @_disfavoredOverload  // Closures that return promises have their own.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onBoth, on: executor, token, Transforming(Typed(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Closures that return promises have their own.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(Failure) ->
            NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let here = Typed.Here(body)
        return react(.onBoth, on: here.executor, token, Transforming(here.plain))
    }

    /// Follows the promise that the closure returns for the result, whose failure is of the same type.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body:
            @escaping @Sendable (Result<Success, Failure>) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        react(
            .onBoth, on: executor, token,
            TransformingByJoining(TypedPromise(body), failingWith: Failure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws(Failure) ->
            Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let here = TypedPromise.Here(body)
        return react(
            .onBoth, on: here.executor, token,
            TransformingByJoining(here.plain, failingWith: Failure.self))
    }

    /// Runs the closure after either outcome, which passes on; an error that the closure throws takes its place.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    @inlinable
    public consuming func finally(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Void
    ) -> Promise {
        react(.finally, on: executor, token, Finishing(TypedEnd(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    @inlinable
    public consuming func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () throws(Failure) -> Void
    ) -> Promise {
        let here = TypedEnd.Here(body)
        return react(.finally, on: here.executor, token, Finishing(here.plain))
    }

    /// The same with a promise returned by the closure: the new promise waits for it, and takes its failure.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        react(
            .finally, on: executor, token,
            FinishingByJoining(TypedEndPromise(body), failingWith: Failure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        let here = TypedEndPromise.Here(body)
        return react(
            .finally, on: here.executor, token,
            FinishingByJoining(here.plain, failingWith: Failure.self))
    }
}
