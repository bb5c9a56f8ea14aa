// Cancelling a promise.

import CVow

extension Promise where Failure == any Error {
    /// Says that the outcome is not wanted: handlers of it read a `CancellationError` in place of what they would have
    /// read, so `catch` and `finally` run, and it is never fulfilled any more. What it waits for is cancelled first, where
    /// nobody else is interested; a handler that runs is let finish. It is rejected when all that has ended: at once,
    /// where no handler runs.
    ///
    /// - Returns: true if it was pending and not cancelled before; else false, with no effect.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure: PromiseFailure {
    /// The same with its failure of a `CancellationError`.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure == any Error {
    /// Settles as this one does, or with a `CancellationError` when the token is cancelled, whichever is first.
    ///
    /// The work of this promise is cancelled with that, where nobody else waits for it.
    public func cancelled(by token: CancellationToken) -> Promise { completed(token) }
}

extension Promise where Failure: PromiseFailure {
    /// The same with its failure of a `CancellationError`.
    public func cancelled(by token: CancellationToken) -> Promise { completed(token) }
}

extension Promise where Failure == Never {
    /// Settles as this one does, or with a `CancellationError` when the token is cancelled, whichever is first. This one is
    /// left alone.
    public func cancelled(by token: CancellationToken) -> Promise<Success, CancellationError> {
        let promise: Promise<Success, CancellationError> = widened()
        return promise.completed(token)
    }
}

extension Promise {
    /// A promise that settles as this one does. Cancelling it leaves this one alone: it waits to the end, and is rejected
    /// then. So a `finally` can return clean-up that no cancellation ends.
    public func shielded() -> Promise { Promise(owned: vow_shield(retainedPointer())) }

    /// Whether its failure type can stand for a `CancellationError`.
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
