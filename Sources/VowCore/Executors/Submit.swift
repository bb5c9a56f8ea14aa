// Handing a reaction to its executor. Foreign code may run here (a custom executor's `submit`), so no
// lock is held.

import CVow

func submit(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let executor = reaction.executor else { fatal("a reaction has no executor") }
    switch executor.pointee.kind {
    case .inline: thread.pointee.agenda.ready.append(reaction)
    case .custom: submitCustom(reaction, executor, thread)
    case .loop: submitToLoop(reaction, executor, thread)
    case _ where refusesWork: refuse(reaction, isForkedChild ? .forked : .shutDown, thread)
    case .serial: submitSerial(reaction, executor, thread)
    default: submitElsewhere(reaction, executor, thread)
    }
}

/// The queue of work of the executor that this thread works for, if that is to run the reaction: whoever appends it
/// there has submitted it, without any foreign code. What others pushed before is taken first.
@inline(__always)
func ownQueue(
    for reaction: RecordPointer, _ thread: ThreadPointer
) -> UnsafeMutablePointer<MemberList>? {
    guard let place = thread.pointee.place, !reaction.isInline,
        reaction.executorElsewhere == place.pointee.executor
    else { return nil }
    return ownQueue(of: place.pointee.executor, thread)
}

private func ownQueue(
    of executor: ExecutorPointer, _ thread: ThreadPointer
) -> UnsafeMutablePointer<MemberList>? {
    switch executor.pointee.kind {
    case .serial where !refusesWork:
        count(thread.cell.pointee.counters.workGiven)
        takeIntake(executor)
    case .loop where executor.loop.isUsable && executor.loop.isRun(by: thread):
        takeIntake(of: executor)
    default:
        return nil
    }
    return executor.batch
}

/// The executor of a reaction, if it is one on a serial dispatch queue that takes work, and not this thread's own.
@inline(__always)
func serialExecutor(for reaction: RecordPointer, _ thread: ThreadPointer) -> ExecutorPointer? {
    guard !reaction.isInline, let executor = reaction.executorElsewhere,
        executor.pointee.kind == .serial, !refusesWork,
        thread.pointee.place?.pointee.executor != executor
    else { return nil }
    return executor
}

private func submitElsewhere(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    count(thread.cell.pointee.counters.workGiven)
    switch executor.pointee.kind {
    case .pool: submitPooled(reaction, thread)
    case .dispatch: executor.pointee.queue?.submit(reaction, runDispatched)
    case .barrier:
        executor.pointee.queue?.submitBarrier(reaction, runDispatched)
        nudgeWaitingThreads(blocking: executor)
    case .inline, .custom, .loop, .serial: fatal("an executor with a way of its own")
    }
}

private func runDispatched(_ work: UnsafeMutableRawPointer?) {
    guard let reaction = work?.assumingMemoryBound(to: Record.self) else { return }
    let thread = currentThread()
    runWholly(reaction, thread)
    count(thread.cell.pointee.counters.workEnded)
}

/// For executors that give each reaction a call of its own: runs it and what follows on this thread.
private func runWholly(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let executor = reaction.executor else { fatal("a reaction has no executor") }
    executor.retain()
    withPlace(at: executor, thread) {
        perform(reaction, thread)
        leave(thread)
    }
    executor.release(thread)
    leave(thread)
}

private func submitCustom(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    guard let submit = executor.checkedClass?.pointee.submit else { return }
    // The work may run, and give up the last reference, before `submit` returns.
    executor.retain()
    let outer = thread.pointee.isSubmitting
    thread.pointee.isSubmitting = true
    runForeign(thread) { submit(executor.pointee.context, runCustom, reaction) }
    thread.pointee.isSubmitting = outer
    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }
    executor.release(thread)
}

private func runCustom(_ work: UnsafeMutableRawPointer?) {
    guard let reaction = work?.assumingMemoryBound(to: Record.self) else {
        fatal("an executor ran NULL")
    }
    let thread = currentThread()
    if thread.pointee.isSubmitting {
        // Inside its own `submit`: a handler must not run inside the call that registered or resolved.
        thread.pointee.agenda.ready.append(reaction)
        return
    }
    runWholly(reaction, thread)
}
