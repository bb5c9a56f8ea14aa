// Handing the members of a settled promise over, in order: batch by batch, until no more come.

import CVow

/// Wakes the waiting threads, and puts the other members on the thread's lists, oldest first.
@inline(never)
func enqueueBatch(
    of promise: RecordPointer, _ newest: RecordPointer, _ thread: ThreadPointer
) {
    let isRejected = promise.value.isError
    // From the newest on, each before those that came after it: so they are in order at once.
    var outcomes = SlotList()
    var batch = MemberList()
    var inline = MemberList()
    var member: RecordPointer? = newest
    while let current = member {
        member = current.next
        if current.pointee.shape.isWaiter {
            // Its record is gone then.
            wake(current)
        } else if current.takesOutcome {
            outcomes.prepend(current)
        } else {
            current.markOut()
            if !current.handles(rejected: isRejected) {
                current.passage.insert(.passes)
                batch.prepend(current)
            } else if current.isInline {
                current.passage.insert(.countedInline)
                promise.inlineLeft &+= 1
                inline.prepend(current)
            } else {
                batch.prepend(current)
            }
        }
    }
    thread.pointee.agenda.outcomes.append(outcomes)
    thread.pointee.agenda.ready.append(inline)
    guard let last = batch.last else {
        finishHandOver(of: promise, thread)
        return
    }
    last.passage.insert(.lastOfBatch)
    if thread.pointee.agenda.handOver.isEmpty && thread.pointee.agenda.batchPromise == nil {
        thread.pointee.agenda.batchPromise = promise
    }
    thread.pointee.agenda.handOver.append(batch)
}

/// One batch is handed over: take those that came meanwhile, or end the phase.
func finishHandOver(of promise: RecordPointer, _ thread: ThreadPointer) {
    let inlineAreLeft = promise.inlineLeft != 0
    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }
}

/// It is about to be handed over: if it is the last of its batch, that is finished afterwards.
@inline(__always)
func noteLastOfBatch(_ member: RecordPointer, _ thread: ThreadPointer) {
    if !member.passage.contains(.lastOfBatch) { return }
    member.passage.remove(.lastOfBatch)
    thread.pointee.agenda.handedOver =
        thread.pointee.agenda.batchPromise ?? promiseRead(by: member)
    thread.pointee.agenda.batchPromise = nil
}

@inline(__always)
func handOver(_ member: RecordPointer, _ thread: ThreadPointer) {
    if member.pointee.flags.contains(RecordFlag.dropped)
        && !member.pointee.flags.contains(RecordFlag.follows)
    {
        thread.pointee.agenda.skipped.append(member)
    } else if member.passage.contains(.passes)
        || member.pointee.flags.contains(RecordFlag.cancelled) && !member.mayRunCancelled
    {
        passThrough(member, thread)
    } else if let executor = serialExecutor(for: member, thread) {
        submitSerial(member, executor, thread) { nextOfRun(for: executor, thread) }
    } else {
        submit(member, thread)
    }
}

/// The next of the same batch, if it goes to the same executor: they travel together.
private func nextOfRun(for executor: ExecutorPointer, _ thread: ThreadPointer) -> RecordPointer? {
    guard thread.pointee.agenda.handedOver == nil,
        let member = thread.pointee.agenda.handOver.first,
        !member.pointee.flags.contains(RecordFlag.cancelled), !member.passage.contains(.passes),
        !member.isInline, member.executorElsewhere == executor
    else { return nil }
    _ = thread.pointee.agenda.handOver.popFirst()
    noteLastOfBatch(member, thread)
    return member
}

/// The promise that a reaction reads which is in no queue any more; it may be cancelled at this moment.
private func promiseRead(by reaction: RecordPointer) -> RecordPointer {
    if reaction.isBegunByRunning, let promise = reaction.source { return promise }
    var pause = Backoff()
    while true {
        let word = reaction.pointee.state.lock()
        if word.phase == .claimed {
            // Its canceller is about to write there; but not if that is a thread of the parent.
            reaction.pointee.state.unlock(word.phase, word.head)
            if reaction.isLeftInStep, let promise = reaction.upstream { return promise }
            pause.wait()
            continue
        }
        let isWithdrawn = reaction.pointee.flags.contains(RecordFlag.dropped)
        let promise = isWithdrawn ? reaction.withdrawnUpstream : reaction.upstream
        reaction.pointee.state.unlock(word.phase, word.head)
        guard let promise else { fatal("a member of a queue reads no promise") }
        return promise
    }
}
