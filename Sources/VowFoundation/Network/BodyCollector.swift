// Collects a body for a transfer that reports its progress.

import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session with one data or upload task.
final class BodyCollector: NSObject, URLSessionDataDelegate {
    /// The counted body: the received one, or the sent one, of this size.
    enum Counting {
        case received
        case sent(Int64)
    }

    private let handler: AnswerHandler<Data>
    private let counting: Counting
    private let reporter: ProgressReporter
    private let body = Guarded(Data())

    init(
        _ counting: Counting, _ onProgress: @escaping ProgressHandler,
        _ handler: @escaping AnswerHandler<Data>
    ) {
        self.handler = handler
        self.counting = counting
        reporter = ProgressReporter(onProgress)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        body.withLock { $0.append(data) }
        if case .received = counting {
            let total = dataTask.response?.expectedContentLength ?? 0
            reporter.report(Int64(data.count), of: total)
        }
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didSendBodyData more: Int64, totalBytesSent _: Int64,
        totalBytesExpectedToSend _: Int64
    ) {
        if case .sent(let size) = counting { reporter.report(more, of: size) }
    }

    func urlSession(
        _: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let body = body.withLock { $0 }
        if error == nil {
            if case .sent(let size) = counting {
                reporter.finish(size)
            } else {
                reporter.finish(Int64(body.count))
            }
        }
        handler(answer(body, task.response, error))
    }
}
