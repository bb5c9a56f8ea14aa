// Cancelling a promise.

import CVow

extension Promise where Failure == any Error {
    /// A pending promise is not fulfilled any more. What it waits for is cancelled first, where nobody else is
    /// interested; a closure that runs returns first; those for failures and those of `finally` are called with a
    /// `CancellationError`. Then it is rejected with that: at once, where there is nothing to wait for.
    ///
    /// - Returns: true if this call did it; false, with no effect, if it was settled, or cancelled before.
    @discardableResult
    public func cancel() -> Bool { cancelNow() }
}

extension Promise where Failure: PromiseFailure {
    /// The same with its failure of a `CancellationError`.
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
