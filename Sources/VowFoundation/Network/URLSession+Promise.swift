// Requests as promises: data and uploads.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLSession {
    /// Sends a request; the promise of the body and the response to it.
    ///
    /// Whatever status a server answers with fulfils; see ``Fetch`` for statuses as failures. What the session fails
    /// with rejects, unchanged but for `URLError.cancelled`, which becomes a `CancellationError`. The request is cancelled
    /// when the promise is, and when nobody is left who could read it.
    ///
    /// ```swift
    /// let page = session.promise(for: request).map { data, response in
    ///     guard response.mimeType == "text/html" else { throw PageError.noPage }
    ///     return data
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - token: cancels the request.
    ///   - onProgress: told how much of the body has been received, one call at a time, on a queue of the transfer's own;
    ///     the last call is of the whole body, and comes before the promise is fulfilled. It takes the place of the
    ///     session's delegate for this request.
    public func promise(
        for request: URLRequest, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        transfer(cancelledBy: token) {
            let reporter = onProgress.map { TransferReporter(.received, $0) }
            let answer = try await self.data(for: request, delegate: reporter)
            await reporter?.finish(Int64(answer.0.count))
            return answer
        }
    }

    /// The same for the contents of a URL.
    public func promise(
        for url: URL, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        promise(for: URLRequest(url: url), cancelledBy: token, onProgress: onProgress)
    }

    /// Sends a request with this body; the promise of the body and the response that come back. As
    /// ``promise(for:cancelledBy:onProgress:)-(URLRequest,_,_)``, but `onProgress` is told how much has been sent.
    public func uploadPromise(
        for request: URLRequest, from body: Data, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        transfer(cancelledBy: token) {
            let reporter = onProgress.map { TransferReporter(.sent, $0) }
            let answer = try await self.upload(for: request, from: body, delegate: reporter)
            await reporter?.finish(Int64(body.count))
            return answer
        }
    }
}
