// Cancels a task of a session, and keeps that apart from the task's beginning and its end.

import Dispatch
import Foundation
import Vow

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Made together with its task.
///
/// FoundationNetworking stops the program when a task is cancelled on one thread while its completion handler
/// returns on another: so no cancelling begins once the handler runs, and the handler waits for one that has begun.
///
/// It also does when a data task fails whose cancelling came before the session's cache has been asked, which
/// happens on the global queue for background work. No cancelling begins that early, and it comes from that same
/// queue.
final class Cancelling: Sendable {
    private let isOver = Guarded(false)
    private let earliest = DispatchTime.now() + .milliseconds(100)

    /// The task's handler runs: there is nothing to cancel any more.
    func end() { isOver.withLock { $0 = true } }

    func begin(_ task: URLSessionTask) {
        #if canImport(FoundationNetworking)
            if task is URLSessionDataTask, DispatchTime.now() < earliest {
                DispatchQueue.global(qos: .background).asyncAfter(deadline: earliest) {
                    self.cancel(task)
                }
                return
            }
        #endif
        cancel(task)
    }

    /// Only the session's own work is done under the lock, and it waits for no handler.
    private func cancel(_ task: URLSessionTask) { isOver.withLock { if !$0 { task.cancel() } } }
}
