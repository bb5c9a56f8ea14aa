// Observers: closures that are called with the outcome, in methods that return the promise itself.

import CVow
import VowCore

extension Promise {
    /// Has the closure called with the result; returns the promise itself, so that observers can be lined up. Cancelling
    /// the token before the result is there gives a `CancellationError`; afterwards it has no effect.
    @discardableResult
    @inlinable
    public func onComplete(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        completed(token).observe(on: executor, nil, Observing(SureVoid(body)))
        return self
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public func onComplete(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Result<Success, Failure>) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        completed(token).observe(on: here.executor, nil, Observing(here.plain))
        return self
    }

    /// Has the closure called with the value; returns the promise itself. A failure is not handled by that. Once the token is
    /// cancelled, a call that has not begun does not begin, even if the value was there before.
    @discardableResult
    @inlinable
    public func onSuccess(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise {
        observe(.onBothForValue, on: executor, token, ObservingValue(SureVoid(body)))
        return self
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public func onSuccess(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Success) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        observe(.onBothForValue, on: here.executor, token, ObservingValue(here.plain))
        return self
    }

    /// Has the closure called with the failure; returns the promise itself.
    @discardableResult
    @inlinable
    public func onFailure(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Void
    ) -> Promise {
        completed(token).observe(on: executor, nil, ObservingFailure(SureVoid(body)))
        return self
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    @inlinable
    public func onFailure(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext
        _ body: @escaping @Sendable @isolated(any) (Failure) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        completed(token).observe(on: here.executor, nil, ObservingFailure(here.plain))
        return self
    }

    /// Has `body` called once the promise is settled. That is no interest in the result: a failure is not handled by it.
    package func onSettled(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken,
        _ body: @escaping @Sendable () -> Void
    ) {
        observe(.onBothForValue, on: executor, token, ObservingEnd(body: SureEnd(body)))
    }

    /// A promise that settles as this promise does or when the token is cancelled, whichever is first. A later outcome has
    /// no effect, even if a handler has not begun by then.
    @inlinable
    func completed(_ token: CancellationToken?) -> Promise {
        guard let token else { return self }
        return react(.onBoth, on: .inline, token, Passing())
    }

    @inlinable
    func observe(
        _ kind: ReactionKind = .onBoth, on executor: PromiseExecutor?, _ token: CancellationToken?,
        _ observer: some Reactor
    ) {
        let _: Promise<Void, Never> = react(kind, on: executor, token, observer)
    }
}

extension Promise where Failure == any Error {
    /// Has the closure called with a failure of one type; returns the promise itself.
    @discardableResult
    public func onFailure<Caught: Error>(
        of _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) -> Void
    ) -> Promise {
        onFailure(on: executor, cancelledBy: token) { error in
            if let caught = error as? Caught { body(caught) }
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    public func onFailure<Caught: Error>(
        of type: Caught.Type, cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Caught) -> Void
    ) -> Promise {
        let here = SureVoid.Here(body)
        return onFailure(of: type, on: here.executor, cancelledBy: token, here.plain.body)
    }
}
