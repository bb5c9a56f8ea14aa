// Tells how far a transfer has come, and each news once.

import Synchronization
import Vow

/// Used on one queue at a time, the delegate's.
final class ProgressReporter: Sendable {
    private let handler: ProgressHandler
    private let last = Guarded<TransferProgress?>(nil)
    private let sum = Atomic<Int64>(0)

    init(_ handler: @escaping ProgressHandler) { self.handler = handler }

    /// Adds `more` bytes. They are added up here, because the session's own sum may be of a later moment.
    ///
    /// - Parameter total: 0 or less: not known.
    func report(_ more: Int64, of total: Int64) {
        let completed = sum.add(more, ordering: .relaxed).newValue
        // A body that was compressed on its way grows beyond the announced size.
        tell(
            TransferProgress(
                completed: completed, total: total > 0 && completed <= total ? total : nil))
    }

    /// The body is whole.
    func finish(_ total: Int64) { tell(TransferProgress(completed: total, total: total)) }

    private func tell(_ progress: TransferProgress) {
        let isNew = last.withLock { last in
            defer { last = progress }
            return last != progress
        }
        if isNew { handler(progress) }
    }
}
