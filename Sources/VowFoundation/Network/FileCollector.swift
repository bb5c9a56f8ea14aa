// Moves a downloaded file to its own place, for a transfer that reports its progress.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session with one download task.
final class FileCollector: NSObject, URLSessionDownloadDelegate {
    private let handler: AnswerHandler<URL>
    private let destination: URL
    private let reporter: ProgressReporter
    private let outcome = Guarded<Result<Int64, any Error>?>(nil)

    init(
        _ destination: URL, _ onProgress: @escaping ProgressHandler,
        _ handler: @escaping AnswerHandler<URL>
    ) {
        self.handler = handler
        self.destination = destination
        reporter = ProgressReporter(onProgress)
    }

    func urlSession(
        _: URLSession, downloadTask _: URLSessionDownloadTask, didWriteData more: Int64,
        totalBytesWritten _: Int64, totalBytesExpectedToWrite: Int64
    ) {
        reporter.report(more, of: totalBytesExpectedToWrite)
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
            handler(answer(destination, task.response, error))
        case .failure(let reason): handler(answer(nil, nil, error ?? reason))
        case nil: handler(answer(nil, nil, error))
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
