// What is handed to a loop: the scheme of SerialDrain, with an event in place of a dispatch.
//
//   intake   anybody pushes; bit 0: the event is raised or will be, or a runner looks before it sleeps
//   batch    the runner alone
//
// The runner lowers the event before it clears bit 0, and clears it only while nothing is in the intake. So
// whoever finds it clear raises the event after it was lowered, and nothing is left lying.

import CVowPlatform

private let runIsComing: UInt64 = 1
/// Destroyed: nothing is accepted any more.
private let closed: UInt64 = 2
private let marks: UInt64 = 3

func submitToLoop(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    let loop = executor.loop
    if !loop.isUsable {
        refuse(reaction, loop.isClosed ? .shutDown : .forked, thread)
        return
    }
    if loop.isRun(by: thread) {
        // No hop. Those that were pushed before go first.
        takeIntake(of: executor)
        executor.batch.pointee.append(reaction)
        return
    }
    while true {
        let old = executor.pointee.intake.loadRelaxed()
        if old & closed != 0 {
            refuse(reaction, .shutDown, thread)
            return
        }
        let isFirst = old & runIsComing == 0
        // Once it is pushed, the reaction may run and give up the last reference.
        if isFirst { executor.retain() }
        reaction.lane = RecordPointer(bitPattern: UInt(old & ~marks))
        let new = UInt64(UInt(bitPattern: reaction)) | runIsComing
        // In the single order with the look of a wait: see `nudgeWaitingThreads`.
        let isPushed = executor.pointee.intake.replaceOrdered(old, new).exchanged
        if isFirst {
            if isPushed { vow_platform_raise(loop.pointee.event) }
            executor.release(thread)
        }
        if isPushed { break }
    }
    nudgeWaitingThreads(blocking: executor)
}

/// The oldest reaction; the runner's.
func nextReaction(in executor: ExecutorPointer) -> RecordPointer? {
    if executor.batch.pointee.isEmpty { takeIntake(of: executor) }
    return executor.batch.pointee.popFirst()
}

func takeIntake(of executor: ExecutorPointer) {
    if executor.pointee.intake.loadRelaxed() & ~marks == 0 { return }
    let taken = executor.pointee.intake.exchangeAcquireRelease(runIsComing)
    executor.batch.pointee.append(
        MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
}

/// The runner has lowered the event. False: there is something to run.
func endRun(of executor: ExecutorPointer) -> Bool {
    if !executor.batch.pointee.isEmpty { return false }
    while true {
        let old = executor.pointee.intake.loadAcquire()
        if old & ~marks != 0 { return false }
        if old == 0 || executor.pointee.intake.replaceAcquireRelease(old, 0).exchanged {
            return true
        }
    }
}

/// Accepts nothing more, and refuses what is there: as one step, see `asOneStep`.
/// - Parameter isBatchWhole: not so if a fork caught another thread at it.
func closeQueue(of executor: ExecutorPointer, isBatchWhole: Bool, _ thread: ThreadPointer) {
    let taken = executor.pointee.intake.exchangeAcquireRelease(closed)
    var left = MemberList()
    if isBatchWhole { swap(&left, &executor.batch.pointee) }
    left.append(MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
    while let reaction = left.popFirst() {
        refuse(reaction, .shutDown, thread)
    }
}
