// How a failure type of the program's own takes in what the library rejects with.

/// A typed failure that can also stand for the library's own rejections: broken promises, cancellation, time-outs.
///
/// `any Error` takes them as they are. A promise whose `Failure` neither is `any Error` nor conforms to this passes such
/// a rejection by its typed handlers, on to the next promise that can take it: one of `any Error`, see
/// ``Promise/eraseFailure()``. For its own readers it never comes to a result: `result` stays nil, a task that awaits it
/// waits on, and a `catch` ends the chain without its closure, while the error is reported as unhandled.
public protocol PromiseFailure: Error {
    /// - Parameter error: a ``PromiseError``, a `CancellationError`, or an error of another type than this.
    init(promiseError error: any Error)
}
