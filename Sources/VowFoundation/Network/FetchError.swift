// Why a fetch has failed.

public import Vow

/// Why a ``Fetch`` has failed.
public enum FetchError: PromiseFailure {
    /// There was no answer, or not a whole one. Often a `URLError`.
    case connectionError(any Error)
    /// The server answered with this status, 400 or above.
    case httpError(Int)
    /// The answer was none of HTTP, so that it has no status.
    case notHTTP
    /// The answer has no body.
    case noData
    /// The body is not the requested one. Often a `DecodingError`.
    case parseError(any Error)
    /// The text is no URL.
    case invalidLink(String)
    /// The promise was cancelled, or the request was.
    case cancelled
    /// An error of the library, such as ``PromiseError/timedOut(lastError:)``.
    case other(any Error)

    /// Represents a rejection of the library.
    public init(promiseError error: any Error) {
        switch error {
        case let error as FetchError: self = error
        case is CancellationError: self = .cancelled
        default: self = .other(error)
        }
    }

    /// Represents a failure of a session.
    init(sessionError error: any Error) {
        switch error {
        case is CancellationError: self = .cancelled
        case is PromiseError: self = .other(error)
        default: self = .connectionError(error)
        }
    }
}

extension FetchError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connectionError(let error): "no connection: \(error)"
        case .httpError(let status): "the server answered with status \(status)"
        case .notHTTP: "the answer is none of HTTP"
        case .noData: "the answer has no body"
        case .parseError(let error): "the body is not what was asked for: \(error)"
        case .invalidLink(let text): "no URL: \(text)"
        case .cancelled: "cancelled"
        case .other(let error): "\(error)"
        }
    }
}
