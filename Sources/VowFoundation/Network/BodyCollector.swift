// Collects a body for a transfer that reports its progress.

import Foundation
import Synchronization
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The delegate of a session with one data or upload task.
final class BodyCollector: NSObject, URLSessionDataDelegate {
    /// Which body is counted: the one that comes, or the one that goes, of this size.
    enum Counting {
        case received
        case sent(Int64)
    }

    private let resolver: Resolver<(Data, URLResponse), any Error>
    private let counting: Counting
    private let reporter: ProgressReporter
    private let body = Mutex(Data())

    init(
        _ resolver: Resolver<(Data, URLResponse), any Error>, _ counting: Counting,
        _ handler: @escaping ProgressHandler
    ) {
        self.resolver = resolver
        self.counting = counting
        reporter = ProgressReporter(handler)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let size = body.withLock { body in
            body.append(data)
            return body.count
        }
        if case .received = counting {
            reporter.report(Int64(size), of: dataTask.response?.expectedContentLength ?? 0)
        }
    }

    func urlSession(
        _: URLSession, task _: URLSessionTask, didSendBodyData _: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend _: Int64
    ) {
        if case .sent(let size) = counting { reporter.report(totalBytesSent, of: size) }
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
        resolver.settle(body, task.response, error)
    }
}
