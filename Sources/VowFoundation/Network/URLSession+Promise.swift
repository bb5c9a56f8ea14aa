// Requests as promises: data and uploads.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLSession {
    /// Sends a request; the promise of the body and the response to it.
    ///
    /// An answer of any status fulfils; see ``Fetch`` for statuses as failures. A failure of the session rejects,
    /// unchanged but for `URLError.cancelled`, which becomes a `CancellationError`. The request is cancelled when
    /// the promise is, or loses its last reader.
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
    ///   - onProgress: told how much of the body has been received, one call at a time, on a queue of the
    ///     transfer's own; the last call is of the whole body, and comes before the promise is fulfilled. With it,
    ///     the promise has progress, too, whose note tells the bytes; and the request is sent in a session of its
    ///     own that has this one's configuration, but neither its delegate nor its connections.
    public func promise(
        for request: URLRequest, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        transfer(cancelledBy: token, onProgress: onProgress) { onProgress, handler in
            guard let onProgress else {
                return dataTask(with: request) { handler(answer($0, $1, $2)) }
            }
            return task(for: BodyCollector(.received, onProgress, handler)) {
                $0.dataTask(with: request)
            }
        } settle: {
            $0.resolve(with: $1)
        }
    }

    /// The same for the contents of a URL.
    public func promise(
        for url: URL, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        promise(for: URLRequest(url: url), cancelledBy: token, onProgress: onProgress)
    }

    /// Sends a request with this body; the promise of the body and the response that come back. As for a request
    /// without one, but `onProgress` is told how much has been sent.
    public func uploadPromise(
        for request: URLRequest, from body: Data, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(Data, URLResponse), any Error> {
        transfer(cancelledBy: token, onProgress: onProgress) { onProgress, handler in
            guard let onProgress else {
                return uploadTask(with: request, from: body) { handler(answer($0, $1, $2)) }
            }
            return task(for: BodyCollector(.sent(Int64(body.count)), onProgress, handler)) {
                $0.uploadTask(with: request, from: body)
            }
        } settle: {
            $0.resolve(with: $1)
        }
    }
}
