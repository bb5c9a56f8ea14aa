// A task of a session as a promise that is cancelled with its task, and its task with it.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The result of a transfer.
typealias Answer<Body> = Result<(Body, URLResponse), any Error>

/// Is called once with the result of a transfer.
typealias AnswerHandler<Body> = @Sendable (Answer<Body>) -> Void

/// Has a task made and started. The task is cancelled when the promise is, or loses its last reader.
///
/// No link of a chain comes in between: a handler on a promise keeps it wanted, so the loss of the last reader
/// would not be noticed.
///
/// - Parameters:
///   - onProgress: called with the progress, which the promise gets too; nil: neither gets it.
///   - settle: settles the promise with the result of the transfer.
func transfer<Body: Sendable, Output: Sendable, Failure: Error>(
    cancelledBy token: CancellationToken?, onProgress: ProgressHandler? = nil,
    _ makeTask: (ProgressHandler?, @escaping AnswerHandler<Body>) -> URLSessionTask,
    settle: @escaping @Sendable (PromiseResolver<Output, Failure>, Answer<Body>) -> Void
) -> Promise<Output, Failure> {
    let (promise, resolver) = Promise<Output, Failure>.open()
    // Pending for as long as the token may cancel the task.
    let (underWay, end) = Promise<Void, any Error>.pending()
    let cancelling = Cancelling()
    let task = makeTask(onProgress.map { telling(resolver, and: $0) }) { answer in
        cancelling.end()
        settle(resolver, answer)
        end.fulfill()
    }
    resolver.onCancel { cancelling.begin(task) }
    if let token {
        underWay.catch(on: .inline, cancelledBy: token) { _ in cancelling.begin(task) }
    }
    task.resume()
    return promise
}

/// Tells the promise's listeners, too.
private func telling<Output, Failure>(
    _ resolver: PromiseResolver<Output, Failure>, and onProgress: @escaping ProgressHandler
) -> ProgressHandler {
    { progress in
        onProgress(progress)
        resolver.setProgress(progress.fraction ?? 0, note: "\(progress)")
    }
}

/// The result that a session gives at the end of a task. A cancelled task gives a `CancellationError`.
func answer<Body>(_ body: Body?, _ response: URLResponse?, _ error: (any Error)?) -> Answer<Body> {
    if let error = error as? URLError, error.code == .cancelled {
        return .failure(CancellationError())
    }
    if let error { return .failure(error) }
    guard let body, let response else { return .failure(PromiseError.neitherValueNorError) }
    return .success((body, response))
}

extension URLSession {
    /// Has a task made in a session of the same configuration that ends with it: the only way in which one task can
    /// have a delegate of its own everywhere.
    func task(for delegate: any URLSessionDelegate, _ make: (URLSession) -> URLSessionTask)
        -> URLSessionTask
    {
        let session = URLSession(
            configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return make(session)
    }
}
