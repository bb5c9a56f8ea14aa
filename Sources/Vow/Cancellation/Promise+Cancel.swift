// Cancelling a promise.

import CVow

extension Promise where Failure == any Error {
    /// Rejects a pending promise with a `CancellationError`, at once, and asks upstream to stop: what it waited for is
    /// cancelled as well where nobody else is interested.
    ///
    /// - Returns: true if this call did it; false, with no effect, if it was settled.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure: PromiseFailure {
    /// Rejects a pending promise with its failure of a `CancellationError`; else as for a promise of any error.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise {
    /// Whether its failure type can stand for a `CancellationError`.
    package static var isCancellable: Bool {
        Failure.self == (any Error).self || Failure.self == CancellationError.self
            || Failure.self is any PromiseFailure.Type
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
