// Downloads to a file as promises.

public import Foundation
public import Vow

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension URLSession {
    /// Downloads the answer to a request into a file; the promise of the file's place and the response.
    ///
    /// The file is there, whole, when the promise is fulfilled. A file that is there already is not overwritten: the
    /// promise is rejected. A download that fails or is cancelled leaves nothing at `destination`. Errors, cancellation
    /// and `onProgress` are as for ``promise(for:cancelledBy:onProgress:)-(URLRequest,_,_)``.
    public func downloadPromise(
        for request: URLRequest, to destination: URL,
        cancelledBy token: CancellationToken? = nil, onProgress: ProgressHandler? = nil
    ) -> Promise<(URL, URLResponse), any Error> {
        transfer(cancelledBy: token) {
            let reporter = onProgress.map { TransferReporter(.received, $0) }
            let (file, response) = try await self.download(for: request, delegate: reporter)
            let size = try keep(file, at: destination)
            await reporter?.finish(size)
            return (destination, response)
        }
    }

    /// The same for the contents of a URL.
    public func downloadPromise(
        for url: URL, to destination: URL, cancelledBy token: CancellationToken? = nil,
        onProgress: ProgressHandler? = nil
    ) -> Promise<(URL, URLResponse), any Error> {
        downloadPromise(
            for: URLRequest(url: url), to: destination, cancelledBy: token, onProgress: onProgress)
    }
}

/// Moves a downloaded file to its own place, or removes it. Its size.
private func keep(_ file: URL, at destination: URL) throws -> Int64 {
    do {
        try Task.checkCancellation()
        try FileManager.default.moveItem(at: file, to: destination)
    } catch {
        // The reason is worth more than why a temporary file could not be removed.
        try? FileManager.default.removeItem(at: file)
        throw error
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: destination.path)
    return attributes[.size] as? Int64 ?? (attributes[.size] as? NSNumber)?.int64Value ?? 0
}
