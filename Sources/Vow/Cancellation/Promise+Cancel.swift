// Cancelling a promise.

import CVow

extension Promise where Failure == any Error {
    /// Cancels the promise: its handlers read a `CancellationError` in place of the outcome, so `catch` and `finally` run,
    /// and it is never fulfilled any more. The promise that it waits for is cancelled first, unless it has another reader;
    /// a running handler is not interrupted. It is rejected when its work has ended: at once, if no handler runs.
    ///
    /// - Returns: true if it was pending and not cancelled before; else false, with no effect.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure: PromiseFailure {
    /// The same for a failure type that has a case for a `CancellationError`.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure == any Error {
    /// A promise that settles as this promise does, or with a `CancellationError` when the token is cancelled, whichever is
    /// first.
    ///
    /// Then the work of this promise is cancelled too, unless it has another reader.
    public func cancelled(by token: CancellationToken) -> Promise { completed(token) }
}

extension Promise where Failure: PromiseFailure {
    /// The same for a failure type that has a case for a `CancellationError`.
    public func cancelled(by token: CancellationToken) -> Promise { completed(token) }
}

extension Promise where Failure == Never {
    /// A promise that settles as this promise does, or with a `CancellationError` when the token is cancelled, whichever is
    /// first. This promise is not cancelled.
    public func cancelled(by token: CancellationToken) -> Promise<Success, CancellationError> {
        let promise: Promise<Success, CancellationError> = widened()
        return promise.completed(token)
    }
}

extension Promise {
    /// A promise that settles as this promise does. Cancelling it does not cancel this promise: the new promise waits to
    /// the end, and is then rejected. So a `finally` can return clean-up that no cancellation ends.
    public func shielded() -> Promise { Promise(owned: vow_shield(retainedPointer())) }

    /// Whether this failure type can represent a `CancellationError`.
    @usableFromInline
    package static var isCancellable: Bool {
        Failure.self == (any Error).self || Failure.self is any PromiseFailure.Type
    }

    package func cancelNow() -> Bool { withPointer { vow_cancel($0) } }

    /// Whether it was cancelled, and not only rejected.
    public var isCancelled: Bool {
        withPointer { promise in
            if vow_promise_state(promise) != VOW_REJECTED { return false }
            var error = vow_none()
            _ = vow_promise_peek(promise, &error)
            return decodeError(error) is CancellationError
        }
    }
}
