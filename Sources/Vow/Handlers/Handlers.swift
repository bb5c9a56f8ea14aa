// Handlers with closures that do not throw, of promises of every failure type.

import CVow
import VowCore

extension Promise {
    /// Looks at the result and passes it on.
    @inlinable
    public consuming func tap(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        react(.onBoth, on: executor, nil, Tapping(SureVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @inlinable
    public consuming func tap(
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        return react(.onBoth, on: here.executor, nil, Tapping(here.plain))
    }

    /// Goes on after a failure with the value that the closure returns for it, where a promise that cannot be rejected is
    /// asked for.
    @_disfavoredOverload  // Else the next handler could not throw.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Failure) -> Success
    ) -> Promise<Success, Never> {
        react(.onRejected, on: executor, nil, Recovering(Sure(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload
    @inlinable
    public consuming func recover(
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Failure) -> Success
    ) -> Promise<Success, Never> {
        let here = Sure.Here(body)
        return react(.onRejected, on: here.executor, nil, Recovering(here.plain))
    }

    /// Goes on after a failure by following the closure's promise, whose failure is the only remaining one.
    @_disfavoredOverload  // Else the next handler could not throw.
    @inlinable
    public consuming func recover<NewFailure>(
        on executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Failure) -> Promise<Success, NewFailure>
    ) -> Promise<Success, NewFailure> {
        react(
            .onRejected, on: executor, nil,
            RecoveringByJoining(SurePromise(body), failingWith: NewFailure.self))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<NewFailure>(
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Failure) -> Promise<Success, NewFailure>
    ) -> Promise<Success, NewFailure> {
        let here = SurePromise.Here(body)
        return react(
            .onRejected, on: here.executor, nil,
            RecoveringByJoining(here.plain, failingWith: NewFailure.self))
    }

    /// The value, or another one instead of a failure.
    @inlinable
    public consuming func recover(with value: Success) -> Promise<Success, Never> {
        react(.onRejected, on: .inline, nil, Recovering(Sure { (_: Failure) in value }))
    }

    /// Runs the closure after either outcome, which passes on.
    @_disfavoredOverload  // Closures that throw or return promises have their own.
    @discardableResult
    @inlinable
    public consuming func finally(
        on executor: PromiseExecutor?, _ body: @escaping @Sendable () -> Void
    ) -> Promise {
        react(.finally, on: executor, nil, Finishing(SureEnd(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) () -> Void
    ) -> Promise {
        let here = SureEnd.Here(body)
        return react(.finally, on: here.executor, nil, Finishing(here.plain))
    }

    /// Ends a chain: the closure gets the failure, whichever link it came from.
    ///
    /// - Returns: a promise that is fulfilled when the chain is through, with a value or with the closure; for `finally`
    ///   behind it, or to be awaited. `recover` goes on with a value instead; `onFailure` looks at the failure and passes it
    ///   on.
    @discardableResult
    @inlinable
    public func `catch`(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Void
    ) -> Promise<Void, Never> {
        react(.onBoth, on: executor, token, Ending(SureVoid(body)))
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public func `catch`(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Failure) -> Void
    ) -> Promise<Void, Never> {
        let here = SureVoid.Here(body)
        return react(.onBoth, on: here.executor, token, Ending(here.plain))
    }

    /// Ends a chain whose failure is of no interest. The failure is printed to standard error, or given to the handler of
    /// ``UnhandledRejections/setCauterized(_:)``.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> Promise<Void, Never> {
        `catch`(on: .inline) { UnhandledRejections.tellCauterized($0, file, line) }
    }

    /// The value mapped on the thread that settles this promise, whatever the failure type is.
    @inlinable
    package consuming func mapped<NewSuccess>(
        _ transform: @escaping @Sendable (Success) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: .inline, nil, Mapping(Sure(transform)))
    }

    /// The same promise without its value.
    @inlinable
    public consuming func asVoid() -> Promise<Void, Failure> { retyped() }
}

// Failures of another type.
extension Promise {
    /// The same promise with another failure.
    @inlinable
    public consuming func mapError<NewFailure: PromiseFailure>(
        on executor: PromiseExecutor? = .inline,
        _ transform: @escaping @Sendable (Failure) -> NewFailure
    ) -> Promise<Success, NewFailure> {
        react(.onRejected, on: executor, nil, MappingFailure(Sure(transform)))
    }

    /// The same where any error may be the failure.
    @inlinable
    public consuming func mapError(
        on executor: PromiseExecutor? = .inline,
        _ transform: @escaping @Sendable (Failure) -> any Error
    ) -> Promise<Success, any Error> {
        react(.onRejected, on: executor, nil, MappingFailure(Sure(transform)))
    }

    /// The same promise, whose failure may be any error.
    ///
    /// A promise that cannot be rejected is shielded: cancelling the new one leaves it alone.
    @inlinable
    public consuming func eraseFailure() -> Promise<Success, any Error> { widened() }
}

extension Promise where Failure == Never {
    /// The same promise where one that may be rejected is asked for. Cancelling the new one leaves this one alone.
    @inlinable
    public consuming func setFailureType<NewFailure: PromiseFailure>(
        to _: NewFailure.Type
    ) -> Promise<Success, NewFailure> { widened() }
}
