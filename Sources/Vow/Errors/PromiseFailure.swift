// How a failure type of the program's own takes in what the library rejects with.

/// A failure type of the program's own that can also stand for the library's rejections: a promise that was cancelled, or
/// whose last resolver was released, or that took too long.
///
/// Every promise can be rejected by one of those, so the failure of a promise is one of three: `any Error`, which takes them
/// as they are; a type that conforms to this; or `Never`, for a promise that cannot be cancelled.
///
/// ```swift
/// enum LoadError: PromiseFailure {
///     case notFound
///     case promise(any Error)
///
///     init(promiseError error: any Error) { self = .promise(error) }
/// }
/// ```
public protocol PromiseFailure: Error {
    /// - Parameter error: a ``PromiseError``, a `CancellationError`, or an error of another type than this.
    init(promiseError error: any Error)
}

extension CancellationError: PromiseFailure {
    /// Whatever it was: the promise has come to nothing.
    public init(promiseError _: any Error) { self.init() }
}
