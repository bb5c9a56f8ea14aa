// A task of a session as a promise that is cancelled with its task, and its task with it.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Has a task made and started that settles a resolver. It is cancelled when the promise is, or when nobody is left who
/// could read it.
func transfer<Output: Sendable>(
    cancelledBy token: CancellationToken?,
    _ makeTask: (Resolver<Output, any Error>) -> URLSessionTask
) -> Promise<Output, any Error> {
    let (promise, resolver) = Promise<Output, any Error>.pending()
    let task = makeTask(resolver)
    resolver.onCancel { task.cancel() }
    task.resume()
    guard let token else { return promise }
    // The token takes this link away, and with it the only reader of the transfer.
    return promise.map(on: .inline, cancelledBy: token) { $0 }
}

extension Resolver where Failure == any Error {
    /// Of what a session says at the end of a task. A cancelled one is told as every cancellation is.
    func settle<Body>(_ body: Body?, _ response: URLResponse?, _ error: (any Error)?)
    where Success == (Body, URLResponse) {
        if let error = error as? URLError, error.code == .cancelled {
            reject(CancellationError())
        } else if let error {
            reject(error)
        } else if let body, let response {
            fulfill((body, response))
        } else {
            reject(PromiseError.neitherValueNorError)
        }
    }
}

extension URLSession {
    /// Has a task made in a session of the same configuration that ends with it: the only way in which one task can have
    /// a delegate of its own everywhere.
    func task(for delegate: any URLSessionDelegate, _ make: (URLSession) -> URLSessionTask)
        -> URLSessionTask
    {
        let session = URLSession(
            configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return make(session)
    }
}
