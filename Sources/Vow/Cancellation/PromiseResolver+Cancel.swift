// The answers of a producer whose work was cancelled.

import CVow

extension PromiseResolver where Failure == any Error {
    /// Rejects with a `CancellationError`, which is nothing to report as unhandled.
    @discardableResult
    public func cancel() -> Bool { rejectAsCancelled() }
}

extension PromiseResolver where Failure: PromiseFailure {
    /// Rejects with the failure of a `CancellationError`, which is nothing to report as unhandled.
    @discardableResult
    public func cancel() -> Bool { rejectAsCancelled() }
}

extension PromiseResolver {
    private func rejectAsCancelled() -> Bool {
        withPointer { vow_reject($0, encodeError(CancellationError())) }
    }
}
