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
    /// promise is rejected. A download that fails leaves nothing at `destination`, nor does one that is cancelled while
    /// it is under way. Errors, cancellation and `onProgress` are as for a request whose body stays in memory.
    public func downloadPromise(
        for request: URLRequest, to destination: URL,
        cancelledBy token: CancellationToken? = nil, onProgress: ProgressHandler? = nil
    ) -> Promise<(URL, URLResponse), any Error> {
        transfer(cancelledBy: token) { resolver in
            if let onProgress {
                return task(for: FileCollector(resolver, destination, onProgress)) {
                    $0.downloadTask(with: request)
                }
            }
            return downloadTask(with: request) { file, response, error in
                do {
                    // The file is gone when this returns.
                    if error == nil, let file { try keep(file, at: destination) }
                    resolver.settle(file.map { _ in destination }, response, error)
                } catch { resolver.reject(error) }
            }
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
