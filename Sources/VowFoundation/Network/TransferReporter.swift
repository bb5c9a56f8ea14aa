// Hears from the session how far one transfer has come, and tells it in order.

import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of one task, for its progress alone.
final class TransferReporter: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    /// Which body is counted.
    enum Direction { case received, sent }

    private let direction: Direction
    private let handler: ProgressHandler
    private let received = Atomic<Int64>(0)
    /// The session tells its delegate and completes its task on different threads; this puts them in order.
    private let queue = DispatchQueue(label: "vow.progress")
    /// Only used on the queue.
    nonisolated(unsafe) private var isFinished = false

    init(_ direction: Direction, _ handler: @escaping ProgressHandler) {
        self.direction = direction
        self.handler = handler
    }

    private func report(_ completed: Int64, of total: Int64) {
        // A body that was compressed on its way grows beyond what was announced.
        let progress = TransferProgress(
            completed: completed, total: total > 0 && completed <= total ? total : nil)
        queue.async {
            if !self.isFinished { self.handler(progress) }
        }
    }

    /// The whole body is there: tells that, and after that nothing more.
    func finish(_ total: Int64) async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.isFinished = true
                self.handler(TransferProgress(completed: total, total: total))
                continuation.resume()
            }
        }
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if direction == .sent { return }
        let size = Int64(data.count)
        let sum = received.add(size, ordering: .relaxed).newValue
        report(sum, of: dataTask.response?.expectedContentLength ?? 0)
    }

    func urlSession(
        _: URLSession, downloadTask _: URLSessionDownloadTask, didWriteData _: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        report(totalBytesWritten, of: totalBytesExpectedToWrite)
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didSendBodyData _: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        if direction == .sent { report(totalBytesSent, of: totalBytesExpectedToSend) }
    }

    /// Who waits for the task gets the file.
    func urlSession(_: URLSession, downloadTask _: URLSessionDownloadTask, didFinishDownloadingTo _: URL) {}
}
