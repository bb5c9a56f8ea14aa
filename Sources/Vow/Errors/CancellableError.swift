// Errors that say nothing but that something was not wanted any more.

/// An error that may represent a cancellation.
///
/// Libraries have errors of their own for cancellation. Conform such a type, and the closures of
/// ``CatchPolicy/allErrorsExceptCancellation`` are not called for it.
///
/// ```swift
/// extension TransferError: CancellableError {
///     var isCancelled: Bool { self == .stoppedByUser }
/// }
/// ```
public protocol CancellableError: Error {
    /// Whether this error represents a cancellation.
    var isCancelled: Bool { get }
}

extension CancellationError: CancellableError {
    public var isCancelled: Bool { true }
}

/// The errors for which a `catch` or a `recover` calls its closure.
public enum CatchPolicy: Sendable {
    case allErrors
    /// All errors except `CancellationError` and each ``CancellableError`` that is a cancellation.
    case allErrorsExceptCancellation

    @usableFromInline
    func covers(_ error: any Error) -> Bool {
        switch self {
        case .allErrors: true
        case .allErrorsExceptCancellation: (error as? any CancellableError)?.isCancelled != true
        }
    }
}
