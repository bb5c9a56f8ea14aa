// What an executor of the program's own is given to run.

import Synchronization

/// One handler, to be run once: `work()`, on any thread.
///
/// Copies are the same work; later calls have no effect. When the last copy goes and nobody has called it, the
/// handler never runs, and its promise is rejected with ``PromiseError/shutDown``: nobody waits for ever for work
/// that was lost.
public struct PromiseWork: Sendable {
    private let ticket: Ticket

    init(_ work: SubmittedWork) { ticket = Ticket(work) }

    public func callAsFunction() { ticket.redeem() }
}

private final class Ticket: Sendable {
    private let work: SubmittedWork
    private let isRedeemed = Atomic(false)

    init(_ work: SubmittedWork) { self.work = work }

    deinit { if !isRedeemed.load(ordering: .acquiring) { work.refuse() } }

    func redeem() {
        if !isRedeemed.exchange(true, ordering: .acquiringAndReleasing) { work() }
    }
}
