// A transfer of a session as a promise that is cancelled with its task, and its task with it.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs Foundation's asynchronous work. It is cancelled when the promise is, or when nobody is left who could read it.
func transfer<Output: Sendable>(
    cancelledBy token: CancellationToken?, _ work: @escaping @Sendable () async throws -> Output
) -> Promise<Output, any Error> {
    let (promise, resolver) = Promise<Output, any Error>.pending()
    let task = Task {
        do {
            resolver.fulfill(try await work())
        } catch {
            resolver.reject(unifyingCancellation(error))
        }
    }
    resolver.onCancel { task.cancel() }
    guard let token else { return promise }
    // The token takes this link away, and with it the only reader of the transfer.
    return promise.map(on: .inline, cancelledBy: token) { $0 }
}

/// A cancelled transfer is told as every cancellation is.
func unifyingCancellation(_ error: any Error) -> any Error {
    if let error = error as? URLError, error.code == .cancelled { return CancellationError() }
    return error
}
