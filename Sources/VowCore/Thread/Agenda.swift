// What the calls of a thread have made ready and not yet done: its lists as one.
//
// Whoever has something to do enters it here, in the middle of a step, and `Drain` does it afterwards, in the order of the
// stages: what happens in one may need what the stages before it have left.
//
//   stage      entries                                                      while it is drained
//   outcomes   members that are told at once: followers, observers          no foreign code runs
//   handOver   reactions, on the way to their executors                     an executor's `submit` may run
//   leftovers  reactions to settle that have a context to destroy; hooks    destructors and hooks run
//              to call; objects to free
//   ready      inline reactions and subscriptions                           handlers run

import CVow

enum AgendaStage: UInt8 {
    case outcomes, handOver, leftovers, ready
}

/// Starts as zeroes, as all that a thread has.
struct Agenda: ~Copyable {
    /// Followers and observers taken from settled promises, on the way to their outcome.
    var outcomes: SlotList
    /// Observers that were stopped, on the way to giving up what they observed; cancelled promises of machines, whose lanes are
    /// to be stopped.
    var leaving: LeavingList
    /// Reactions taken from settled promises, on the way to their executors.
    var handOver: MemberList
    /// The promise of the first batch in that list; nil: ask the batch's last member.
    var batchPromise: RecordPointer?
    /// The promise whose last member is on its way to its executor: then its hand-over is finished.
    var handedOver: RecordPointer?
    /// Reactions that no handler will run for and that have a context to destroy; those that follow, and are to be settled
    /// after that.
    var skipped: MemberList
    /// The same, of which executors have others of their links.
    var withdrawn: SlotList
    /// Inline reactions and subscriptions, to run when no foreign code is on the stack.
    var ready: MemberList
    /// Objects to free, linked through their counts.
    var dead: UInt64
    /// What producers asked to be called: a ring, in which the newest comes before the oldest.
    var newestHook: HookPointer?
    /// What is being drained on this stack: who comes to it again leaves it to that one, unless it has to wait for it.
    var isHandingOver: Bool
    var isTakingOutcomes: Bool
    var isSkipping: Bool
    var isReclaiming: Bool
}

// Asked of the thread, and not of its agenda: that would be lent as a copy where it is not inlined.
extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// Nothing stands in that stage and those before it.
    @inline(__always)
    func hasDone(through stage: AgendaStage) -> Bool {
        pointee.agenda.outcomes.isEmpty && pointee.agenda.leaving.isEmpty
            && (stage.rawValue < AgendaStage.handOver.rawValue
                || pointee.agenda.handOver.isEmpty && pointee.agenda.handedOver == nil)
            && (stage.rawValue < AgendaStage.leftovers.rawValue || !hasLeftovers)
            && (stage.rawValue < AgendaStage.ready.rawValue || pointee.agenda.ready.isEmpty)
    }

    /// What had to wait for the end of the hand-over.
    @inline(__always)
    var hasLeftovers: Bool {
        hasSkipped || pointee.agenda.dead != 0 || pointee.agenda.newestHook != nil
    }

    /// Reactions whose contexts are to be destroyed.
    @inline(__always)
    var hasSkipped: Bool {
        !pointee.agenda.skipped.isEmpty || !pointee.agenda.withdrawn.isEmpty
    }
}
