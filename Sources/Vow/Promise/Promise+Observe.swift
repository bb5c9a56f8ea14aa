// Looking at the result without changing it: get, tap, and the observers.

public import CVow
import VowCore

extension Promise {
    /// Looks at the value and passes it on. What `body` throws rejects.
    @inlinable
    public consuming func get(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Void
    ) -> Promise {
        react(.onFulfilled, on: executor, token, Getting(body: body))
    }

    /// Looks at the result and passes it on.
    @inlinable
    public consuming func tap(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        react(.onBoth, on: executor, token, Tapping(body: body))
    }

    /// Has `body` called with the result; returns the promise itself, so that observers can be lined up. Cancelling the
    /// token before that is there gives a `CancellationError`; afterwards it has no effect.
    @discardableResult
    @inlinable
    public func onComplete(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        completed(token).observe(on: executor, nil, Observing(body: body))
        return self
    }

    /// Has `body` called with the value; returns the promise itself. A failure is not handled by that. Once the token is
    /// cancelled, a call that has not begun does not begin, even if the value was there before.
    @discardableResult
    @inlinable
    public func onSuccess(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) -> Void
    ) -> Promise {
        observe(.onBothForValue, on: executor, token, ObservingValue(body: body))
    }

    /// Has `body` called with the failure; returns the promise itself.
    @discardableResult
    @inlinable
    public func onFailure(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Void
    ) -> Promise {
        completed(token).observe(
            on: executor, nil, Catching<Success, Failure>(body: body))
        return self
    }

    /// Has `body` called once it is settled. That is no interest in the result: a failure is not handled by it.
    package func onSettled(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken,
        _ body: @escaping @Sendable () -> Void
    ) {
        _ = observe(.onBothForValue, on: executor, token, ObservingEnd(body: body))
    }

    /// Settles as this one does or when the token is cancelled, whichever is first: what comes after has no effect, also
    /// where a handler has not begun by then.
    @inlinable
    func completed(_ token: CancellationToken?) -> Promise {
        guard let token else { return self }
        return react(.onBoth, on: .inline, token, Passing())
    }

    @discardableResult
    @inlinable
    func observe(
        _ kind: ReactionKind = .onBoth, on executor: PromiseExecutor?, _ token: CancellationToken?,
        _ observer: some Reactor
    ) -> Promise {
        let _: Promise<Void, Never> = react(kind, on: executor, token, observer)
        return self
    }
}

extension Promise where Failure == any Error {
    /// Has `body` called with a failure of one type; returns the promise itself.
    @discardableResult
    @inlinable
    public func onFailure<Caught: Error>(
        of _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) -> Void
    ) -> Promise {
        onFailure(on: executor, cancelledBy: token) { error in
            if let caught = error as? Caught { body(caught) }
        }
    }
}

@usableFromInline
struct Passing: Reactor {
    @inlinable
    init() {}

    @inlinable
    func react(to input: vow_value) -> vow_value { vow_value_retain(input) }
}

/// Looks at the value, and passes on what it came as.
@usableFromInline
struct Getting<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Value) throws(Failure) -> Void

    @inlinable
    init(body: @escaping @Sendable (Value) throws(Failure) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            do throws(Failure) { try body(value) } catch { return encodeError(error) }
            return vow_value_retain(input)
        }
    }
}

/// The same with whichever it is.
@usableFromInline
struct Tapping<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Result<Value, Failure>) -> Void

    @inlinable
    init(body: @escaping @Sendable (Result<Value, Failure>) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in
            body(result)
            return vow_value_retain(input)
        }
    }
}

@usableFromInline
struct Observing<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Result<Value, Failure>) -> Void

    @inlinable
    init(body: @escaping @Sendable (Result<Value, Failure>) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in
            body(result)
            return vow_none()
        }
    }
}

@usableFromInline
struct ObservingValue<Value: Sendable>: Reactor {
    @usableFromInline let body: @Sendable (Value) -> Void

    @inlinable
    init(body: @escaping @Sendable (Value) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind == VOW_ERROR { return vow_none() }
        return reading(input) { value in
            body(value)
            return vow_none()
        }
    }
}

@usableFromInline
struct ObservingEnd: Reactor {
    @usableFromInline let body: @Sendable () -> Void

    @inlinable
    init(body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        body()
        return vow_none()
    }
}
