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
        transfer(cancelledBy: token, onProgress: onProgress) { onProgress, handler in
            if let onProgress {
                return task(for: FileCollector(destination, onProgress, handler)) {
                    $0.downloadTask(with: request)
                }
            }
            return downloadTask(with: request) { file, response, error in
                do {
                    // The file is gone when this returns.
                    if error == nil, let file { try keep(file, at: destination) }
                    handler(answer(file.map { _ in destination }, response, error))
                } catch { handler(.failure(error)) }
            }
        } settle: {
            $0.resolve(with: $1)
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
