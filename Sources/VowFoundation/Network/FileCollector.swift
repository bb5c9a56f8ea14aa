// Moves a downloaded file to its own place, for a transfer that reports its progress.

import Foundation
import Synchronization
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session with one download task.
final class FileCollector: NSObject, URLSessionDownloadDelegate {
    private let resolver: Resolver<(URL, URLResponse), any Error>
    private let destination: URL
    private let reporter: ProgressReporter
    private let outcome = Mutex<Result<Int64, any Error>?>(nil)

    init(
        _ resolver: Resolver<(URL, URLResponse), any Error>, _ destination: URL,
        _ handler: @escaping ProgressHandler
    ) {
        self.resolver = resolver
        self.destination = destination
        reporter = ProgressReporter(handler)
    }

    func urlSession(
        _: URLSession, downloadTask _: URLSessionDownloadTask, didWriteData _: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        reporter.report(totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    func urlSession(
        _: URLSession, downloadTask _: URLSessionDownloadTask, didFinishDownloadingTo file: URL
    ) {
        let moved = Result { try keep(file, at: destination) }
        outcome.withLock { $0 = moved }
    }

    func urlSession(
        _: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        switch outcome.withLock({ $0 }) {
        case .success(let size):
            if error == nil { reporter.finish(size) }
            resolver.settle(destination, task.response, error)
        case .failure(let reason): resolver.settle(nil, nil, error ?? reason)
        case nil: resolver.settle(nil, nil, error)
        }
    }
}

/// Moves a downloaded file to its own place, or removes it. Its size.
@discardableResult
func keep(_ file: URL, at destination: URL) throws -> Int64 {
    do {
        try FileManager.default.moveItem(at: file, to: destination)
    } catch {
        // The reason is worth more than why a temporary file could not be removed.
        try? FileManager.default.removeItem(at: file)
        throw error
    }
    let size = try FileManager.default.attributesOfItem(atPath: destination.path)[.size]
    return (size as? NSNumber)?.int64Value ?? 0
}
