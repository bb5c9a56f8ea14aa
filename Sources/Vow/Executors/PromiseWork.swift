// The work that an executor of the program's own is given.

import Synchronization

/// One handler, to be run once: `work()`, on any thread.
///
/// Copies are the same work; later calls have no effect. When the last copy goes without a call, the handler
/// never runs, and its promise is rejected with ``PromiseError/shutDown``: no reader waits for ever.
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
