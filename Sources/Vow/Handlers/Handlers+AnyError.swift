// Handlers of a promise that any error can reject.

import CVow

// Each handler is there twice. With `on:`, its closure runs on that executor; nil: as a handler without one, see
// `PromiseExecutor`. Without, the closure is isolated to the actor whose code wrote it, and runs on that actor.

extension Promise where Failure == any Error {
    /// The promise of the closure's result for the value. A failure passes by, and the closure is not called.
    @inlinable
    public consuming func map<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, on: executor, token, Mapping(Trying(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws -> NewSuccess
    ) -> Promise<NewSuccess, any Error> {
        let here = Trying.Here(body)
        return react(.onFulfilled, on: here.executor, token, Mapping(here.plain))
    }

    /// Follows the promise that the closure returns for the value, whatever its failure is. A failure passes
    /// by, and the closure is not called.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(
            .onFulfilled, on: executor, token,
            Joining(TryingPromise(body), failingWith: (any Error).self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) throws -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        let here = TryingPromise.Here(body)
        return react(
            .onFulfilled, on: here.executor, token,
            Joining(here.plain, failingWith: (any Error).self))
    }

    /// Uses the value; the new promise has none.
    @discardableResult
    @inlinable
    public consuming func done(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws -> Void
    ) -> Promise<Void, any Error> {
        react(.onFulfilled, on: executor, token, Mapping(TryingVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func done(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Success) throws -> Void
    ) -> Promise<Void, any Error> {
        let here = TryingVoid.Here(body)
        return react(.onFulfilled, on: here.executor, token, Mapping(here.plain))
    }

    /// Calls the closure with the value and passes the value on. An error thrown by the closure rejects.
    @inlinable
    public consuming func get(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws -> Void
    ) -> Promise {
        react(.onFulfilled, on: executor, token, Getting(TryingVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func get(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Success) throws -> Void
    ) -> Promise {
        let here = TryingVoid.Here(body)
        return react(.onFulfilled, on: here.executor, token, Getting(here.plain))
    }

    /// Goes on after a failure with the value that the closure returns for it.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (any Error) throws -> Success
    ) -> Promise {
        react(.onRejected, on: executor, token, Recovering(TryingOfError(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (any Error) throws -> Success
    ) -> Promise {
        let here = TryingOfError.Here(body)
        return react(.onRejected, on: here.executor, token, Recovering(here.plain))
    }

    /// Goes on after a failure by following the promise that the closure returns for it, whatever its failure is.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    @inlinable
    public consuming func recover<Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        react(
            .onRejected, on: executor, token,
            RecoveringByJoining(TryingOfErrorPromise(body), failingWith: (any Error).self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    @inlinable
    public consuming func recover<Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        let here = TryingOfErrorPromise.Here(body)
        return react(
            .onRejected, on: here.executor, token,
            RecoveringByJoining(here.plain, failingWith: (any Error).self))
    }

    /// The promise of the closure's answer to the result, a value or a failure.
    @_disfavoredOverload  // Closures that return promises have their own.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) throws -> NewSuccess
    ) -> Promise<NewSuccess, any Error> {
        react(.onBoth, on: executor, token, Transforming(Trying(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Closures that return promises have their own.
    @inlinable
    public consuming func transform<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws -> NewSuccess
    ) -> Promise<NewSuccess, any Error> {
        let here = Trying.Here(body)
        return react(.onBoth, on: here.executor, token, Transforming(here.plain))
    }

    /// Follows the promise that the closure returns for the result, whatever its failure is.
    @inlinable
    public consuming func transform<NewSuccess, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) throws -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(
            .onBoth, on: executor, token,
            TransformingByJoining(TryingPromise(body), failingWith: (any Error).self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func transform<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Result<Success, Failure>) throws -> Promise<
                NewSuccess, Other
            >
    ) -> Promise<NewSuccess, any Error> {
        let here = TryingPromise.Here(body)
        return react(
            .onBoth, on: here.executor, token,
            TransformingByJoining(here.plain, failingWith: (any Error).self))
    }

    /// Runs the closure after either outcome, which passes on; an error that the closure throws takes its place.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    @inlinable
    public consuming func finally(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws -> Void
    ) -> Promise {
        react(.finally, on: executor, token, Finishing(TryingEnd(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    @inlinable
    public consuming func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () throws -> Void
    ) -> Promise {
        let here = TryingEnd.Here(body)
        return react(.finally, on: here.executor, token, Finishing(here.plain))
    }

    /// The same with a promise returned by the closure: the new promise waits for it, and takes its failure.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws -> Promise<Ignored, Other>
    ) -> Promise {
        react(
            .finally, on: executor, token,
            FinishingByJoining(TryingEndPromise(body), failingWith: (any Error).self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () throws -> Promise<Ignored, Other>
    ) -> Promise {
        let here = TryingEndPromise.Here(body)
        return react(
            .finally, on: here.executor, token,
            FinishingByJoining(here.plain, failingWith: (any Error).self))
    }
}
