// Settling: publish the value, take the queue, hand its members over in order. A loop, not a recursion:
// promises that settle along the way add their members to the thread's lists.

import CVow

/// Settles a claimed promise with a value (consumed). With `ownsProducer` the caller's producer
/// reference is consumed too; without, the promise must live until its value is published, and no longer.
@inline(never)
func settle(
    _ promise: RecordPointer, _ value: vow_value, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    if isWatched { noteSettled(promise, value) }
    promise.value = value
    count(thread.cell.pointee.counters.promisesSettled)
    var ownsProducer = ownsProducer
    let newest = promise.pointee.state.transitionToSettling {
        // Somebody who waits may give the resolver back, whoever still uses it, as soon as it is woken.
        if !ownsProducer { promise.retainProducer() }
        ownsProducer = true
    }
    afterSettling(promise, newest, ownsProducer: ownsProducer, thread)
}

/// The same for a promise that is still open, or whose handler runs. False, and nothing is consumed, when
/// somebody else has decided about it.
@inline(never)
func settle(
    _ promise: RecordPointer, whileIn phase: Phase, _ value: vow_value, ownsProducer: Bool,
    _ thread: ThreadPointer
) -> Bool {
    guard let word = promise.pointee.state.lock(whileIn: phase) else { return false }
    if phase == .open && !promise.pointee.shape.isReaction, let hooks = promise.hooks {
        settleLocked(promise, word, hooks, value, ownsProducer: ownsProducer, thread)
    } else {
        settleLocked(promise, word, value, ownsProducer: ownsProducer, thread)
    }
    return true
}

/// One with hooks, which it keeps until they know that they have been taken.
@inline(never)
private func settleLocked(
    _ promise: RecordPointer, _ word: StateWord, _ hooks: HookPointer, _ value: vow_value,
    ownsProducer: Bool, _ thread: ThreadPointer
) {
    promise.retainProducer()
    settleLocked(promise, word, value, ownsProducer: ownsProducer, thread)
    dismissTaken(hooks, of: promise, thread)
}

/// The same for a promise that the caller has locked, open or running. Its hooks are the caller's to dismiss.
@inline(__always)
func settleLocked(
    _ promise: RecordPointer, _ word: StateWord, _ value: vow_value, ownsProducer: Bool,
    _ thread: ThreadPointer
) {
    if isWatched { noteSettled(promise, value) }
    promise.value = value
    count(thread.cell.pointee.counters.promisesSettled)
    if word.head != nil {
        publishToMembers(promise, word, ownsProducer: ownsProducer, thread)
        return
    }
    let isTravelling = promise.pointee.shape.isTravelling
    _ = promise.pointee.state.unlockSettling(word)
    if isTravelling { leaveToken(promise, thread) }
    if ownsProducer { promise.releaseProducer(thread) }
}

/// The promise is locked and has its value: the step to settling, with what follows for its members.
@inline(never)
private func publishToMembers(
    _ promise: RecordPointer, _ word: StateWord, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if let only = word.head, only.isClearlyLast,
        publish(promise, to: only, ownsProducer: ownsProducer, thread)
    {
        return
    }
    let isTravelling = promise.pointee.shape.isTravelling
    if !ownsProducer { promise.retainProducer() }
    let newest = promise.pointee.state.unlockSettling(word)
    if isTravelling { leaveToken(promise, thread) }
    afterSettling(promise, newest, ownsProducer: true, thread)
}

@inline(__always)
private func afterSettling(
    _ promise: RecordPointer, _ newest: RecordPointer?, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if let newest {
        asOneStep(thread) { enqueueBatch(of: promise, newest, thread) }
    } else if ownsProducer {
        promise.releaseProducer(thread)
    }
}

/// Has `body` done before anything that could call foreign code: hand-overs, contexts to destroy, objects to
/// free. They might wait for what `body` has begun.
@inline(__always)
func asOneStep(_ thread: ThreadPointer, _ body: () -> Void) {
    if thread.pointee.isHandingOver {
        body()
        takeOutcomes(thread)
        return
    }
    thread.pointee.isHandingOver = true
    body()
    endStep(thread)
}

@inline(never)
private func endStep(_ thread: ThreadPointer) {
    if thread.pointee.hasHandOver { handOverAll(thread) }
    thread.pointee.isHandingOver = false
    if thread.pointee.hasLeftovers { finishHandingOver(thread) }
}

extension ThreadState {
    @inline(__always)
    fileprivate var hasHandOver: Bool {
        !outcomes.isEmpty || !leaving.isEmpty || !handOver.isEmpty || handedOver != nil
    }

    /// What had to wait for the end of the hand-over.
    @inline(__always)
    var hasLeftovers: Bool {
        !skipped.isEmpty || !withdrawn.isEmpty || dead != 0 || newestHook != nil
    }
}

/// Wakes the waiting threads, and puts the other members on the thread's lists, oldest first.
@inline(never)
private func enqueueBatch(
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
                current.progress.insert(.passes)
                batch.prepend(current)
            } else if current.isInline {
                current.progress.insert(.countedInline)
                promise.inlineLeft &+= 1
                inline.prepend(current)
            } else {
                batch.prepend(current)
            }
        }
    }
    thread.pointee.outcomes.append(outcomes)
    thread.pointee.ready.append(inline)
    guard let last = batch.last else {
        finishHandOver(of: promise, thread)
        return
    }
    last.progress.insert(.lastOfBatch)
    if thread.pointee.handOver.isEmpty && thread.pointee.batchPromise == nil {
        thread.pointee.batchPromise = promise
    }
    thread.pointee.handOver.append(batch)
}

/// Gives followers and observers the outcome that they were taken for. Calls no foreign code.
@inline(__always)
func takeOutcomes(_ thread: ThreadPointer) {
    if thread.pointee.outcomes.isEmpty && thread.pointee.leaving.isEmpty { return }
    takeAllOutcomes(thread)
}

@inline(never)
private func takeAllOutcomes(_ thread: ThreadPointer) {
    if thread.pointee.isTakingOutcomes { return }
    thread.pointee.isTakingOutcomes = true
    while true {
        if takeOwnOutcome(thread) { continue }
        guard let observer = thread.pointee.leaving.popFirst() else { break }
        giveUpObserved(observer, thread)
    }
    thread.pointee.isTakingOutcomes = false
}

/// Also nested, from a wait inside an executor's `submit`.
@inline(never)
func handOverAll(_ thread: ThreadPointer) {
    let outer = thread.pointee.isHandingOver
    thread.pointee.isHandingOver = true
    takeOutcomes(thread)
    finishLastBatch(thread)
    while let member = thread.pointee.handOver.popFirst() {
        noteLastOfBatch(member, thread)
        handOver(member, thread)
        takeOutcomes(thread)
        finishLastBatch(thread)
    }
    thread.pointee.isHandingOver = outer
}

@inline(__always)
private func noteLastOfBatch(_ member: RecordPointer, _ thread: ThreadPointer) {
    if !member.progress.contains(.lastOfBatch) { return }
    member.progress.remove(.lastOfBatch)
    thread.pointee.handedOver = thread.pointee.batchPromise ?? promiseRead(by: member)
    thread.pointee.batchPromise = nil
}

/// The promise whose last member was just handed over, or, in a wait inside that member's `submit`, is being
/// handed over. The hand-over's producer reference has kept it alive.
private func finishLastBatch(_ thread: ThreadPointer) {
    while let promise = thread.pointee.handedOver {
        thread.pointee.handedOver = nil
        finishHandOver(of: promise, thread)
        takeOutcomes(thread)
    }
}

/// What had to wait for the end of the hand-over, because it is foreign code that may wait for a member:
/// contexts to destroy, hooks to call, objects to free.
@inline(never)
func finishHandingOver(_ thread: ThreadPointer) {
    // Producers first: what they are told with may be the context of a link that waits for them.
    if thread.pointee.newestHook != nil { reclaimUnlessBusy(thread) }
    if !thread.pointee.isSkipping { finishSkipped(thread) }
    if thread.pointee.dead != 0 || thread.pointee.newestHook != nil { reclaimUnlessBusy(thread) }
}

/// One batch is handed over: take those that came meanwhile, or end the phase.
private func finishHandOver(of promise: RecordPointer, _ thread: ThreadPointer) {
    let inlineAreLeft = promise.inlineLeft != 0
    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }
}

@inline(__always)
private func handOver(_ member: RecordPointer, _ thread: ThreadPointer) {
    if member.pointee.flags.contains(RecordFlag.dropped) {
        thread.pointee.skipped.append(member)
    } else if member.progress.contains(.passes)
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
    guard thread.pointee.handedOver == nil, let member = thread.pointee.handOver.first,
        !member.pointee.flags.contains(RecordFlag.cancelled), !member.progress.contains(.passes),
        !member.isInline, member.executorElsewhere == executor
    else { return nil }
    _ = thread.pointee.handOver.popFirst()
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
            // Its canceller is about to write there.
            reaction.pointee.state.unlock(word.phase, word.head)
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
