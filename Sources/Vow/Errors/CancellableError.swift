// Errors that say nothing but that something was not wanted any more.

/// An error that may stand for a cancellation.
///
/// Libraries have errors of their own for that: conform such a type, and a policy of
/// ``CatchPolicy/allErrorsExceptCancellation`` is not told of it.
///
/// ```swift
/// extension TransferError: CancellableError {
///     var isCancelled: Bool { self == .stoppedByUser }
/// }
/// ```
public protocol CancellableError: Error {
    /// Whether this one does.
    var isCancelled: Bool { get }
}

extension CancellationError: CancellableError {
    public var isCancelled: Bool { true }
}

/// Which errors a `catch` or a `recover` is told of.
public enum CatchPolicy: Sendable {
    case allErrors
    /// Of all but those of type `CancellationError` and each ``CancellableError`` that says so.
    case allErrorsExceptCancellation

    @usableFromInline
    func covers(_ error: any Error) -> Bool {
        switch self {
        case .allErrors: true
        case .allErrorsExceptCancellation: (error as? any CancellableError)?.isCancelled != true
        }
    }
}
