// The errors that the library itself rejects with.

/// The reason why the library, and not the work of a promise, rejected the promise.
///
/// A cancelled promise is rejected with Swift's own `CancellationError`.
public enum PromiseError: Error, Sendable {
    /// A wrong argument; the text names function and argument.
    case invalidArgument(String)
    case outOfMemory
    /// The work needs libdispatch's threads, which a forked child has not.
    case forked
    /// The last resolver went away without resolving the promise.
    case broken
    /// The promise would have to wait for itself, directly or by way of others that it needs.
    case cycle
    /// The time is up. A retry that reached its deadline has the failure of its last attempt.
    case timedOut(lastError: (any Error)?)
    /// The wait would block the work that it waits for, or handlers would wait for each other.
    case deadlock
    /// The executor of the work is gone.
    case shutDown
    /// C rejected with a value that is no error.
    case reason(CValue)
    /// A C value of another type than Swift expects.
    case unexpectedValue(expected: String, found: String)
    /// A callback came with neither a value nor an error.
    case neitherValueNorError
    /// `filter`, `validate`, `compactMap`, `firstValue` and `lastValue` found nothing.
    case noSuchElement

    /// Another time-out than a retry's.
    public static var timedOut: PromiseError { .timedOut(lastError: nil) }
}

extension PromiseError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidArgument(let text): text
        case .outOfMemory: "out of memory"
        case .forked: "a forked child has no threads to run this on"
        case .broken: "the last resolver was released without resolving the promise"
        case .cycle: "the promise would have to wait for itself"
        case .timedOut(nil): "it took too long"
        case .timedOut(let error?): "it took too long; the last attempt failed: \(error)"
        case .deadlock: "the wait would block what it waits for"
        case .shutDown: "what was to run the work is gone"
        case .reason(let value): "rejected with \(value)"
        case .unexpectedValue(let expected, let found): "expected \(expected), found \(found)"
        case .neitherValueNorError: "a callback came with neither a value nor an error"
        case .noSuchElement: "no element fits"
        }
    }
}
