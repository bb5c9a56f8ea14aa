// Handing the members of a settled promise over, in order: batch by batch, until no more come.
//
// `enqueueBatch` wakes waiting threads at once and puts the other members in the agenda, oldest first: followers and observers
// for their outcome, reactions for their executor. Inline reactions run one after the other on the delivering thread, and the
// promise is delivering until each has run, or is about to block. A reaction without a handler for the outcome is settled with
// the same outcome: the outcome passes through.
//
// The inline reactions of one delivery each have a reference to the promise. While `inlineLeft` says that another one is still
// to run on this thread, that one keeps the promise, so a reference that is no longer needed is only noted (`OwedReads`, the
// thread's own), and the last reaction gives all of them back. `finishDelivery` does the same for a reaction that is dropped.
// Reactions of other executors note their executor's reference in the worker's `Place`.

import CVow

@inline(never)
func enqueueBatch(
    of promise: RecordPointer, _ newest: RecordPointer, _ thread: ThreadPointer
) {
    let isRejected = promise.value.isError
    // The walk begins with the newest member, and each member is put before the later ones.
    var outcomes = SlotList()
    var batch = MemberList()
    var inline = MemberList()
    var member: RecordPointer? = newest
    while let current = member {
        member = current.next
        if current.pointee.shape.isWaiter {
            // The record of a waiting thread is gone after this.
            guard let step = wake(current, thread) else { continue }
            if step.executorElsewhere == ownExecutors.inline {
                step.passage.insert(.countedInline)
                promise.inlineLeft &+= 1
                inline.prepend(step)
            } else {
                batch.prepend(step)
            }
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

/// Ends the hand-over of one batch: takes the members that came meanwhile, or ends the phase.
func finishHandOver(of promise: RecordPointer, _ thread: ThreadPointer) {
    let inlineAreLeft = promise.inlineLeft != 0
    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }
}

/// Notes that the last member of a batch is about to be handed over; `finishHandOver` follows.
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
    } else if let executor = executorOfBatch(for: member, thread) {
        submit(member, executor, thread) { nextOfRun(for: executor, thread) }
    } else {
        submit(member, thread)
    }
}

/// Returns the next member of the batch if its executor is the same: they are submitted together.
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

/// The promise of a reaction that is in no queue any more. A canceller may be writing at this moment.
private func promiseRead(by reaction: RecordPointer) -> RecordPointer {
    if reaction.isBegunByRunning, let promise = reaction.source { return promise }
    var pause = Backoff()
    while true {
        let word = reaction.pointee.state.lock()
        if word.phase == .claimed {
            // The canceller is about to write `upstream`, unless it is a thread of the parent.
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

// MARK: Inline reactions: when each has begun or run, and when the phase ends

/// Puts an inline reaction on the thread's list. Its promise is delivering until it has run.
func deferInline(_ member: RecordPointer, of promise: RecordPointer, _ thread: ThreadPointer) {
    promise.inlineLeft += 1
    member.passage.insert(.countedInline)
    thread.pointee.agenda.ready.append(member)
}

/// Notes that an inline reaction has returned, or is about to block; after the last one the late ones are taken, or the phase
/// ends. Only the delivering thread calls this.
func finishDelivery(of member: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    let delivery = member.takeDelivery()
    if delivery.contains(.countedInline) {
        promise.inlineLeft -= 1
        if promise.inlineLeft == 0 {
            let owed = thread.pointee.owedReads.take(of: promise)
            if owed > 0 { promise.giveBack(owed, thread) }
        }
        deliverLateOnes(of: promise, thread)
    }
    if delivery.contains(.holdsProducer) { promise.releaseProducer(thread) }
}

/// `finishDelivery` for a settled reaction, with its reference to the promise; `delivery` is the result of `takeDelivery`.
@inline(__always)
func endReading(_ promise: RecordPointer, _ delivery: Passage, _ thread: ThreadPointer) {
    if !delivery.contains(.countedInline) {
        promise.giveBack(delivery.references, thread)
        return
    }
    promise.inlineLeft &-= 1
    if promise.inlineLeft != 0 {
        // The next inline reaction keeps the promise, and the last one gives all references back.
        oweRead(of: promise, thread)
        return
    }
    let mine = delivery.references &+ thread.pointee.owedReads.take(of: promise)
    if promise.pointee.counts.loadAcquire() == mine {
        // No other thread can register, or read the phase.
        promise.pointee.state.close()
        reclaim(promise, thread)
    } else {
        // While the promise is settling, `finishHandOver` will see that no inline reaction is left.
        if !promise.pointee.state.endsDelivery() {
            asOneStep(thread) { deliverLateOnes(of: promise, thread) }
        }
        promise.giveBack(mine, thread)
    }
}

extension Passage {
    /// The references of a reaction to the promise that it has read.
    @inline(__always)
    var references: UInt64 {
        contains(.holdsProducer) ? Counts.oneProducer + Counts.oneReader : Counts.oneReader
    }
}

@inline(__always)
private func oweRead(of promise: RecordPointer, _ thread: ThreadPointer) {
    if let other = thread.pointee.owedReads.add(promise) {
        other.promise.giveBack(other.count, thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    func takeDelivery() -> Passage {
        let delivery = passage.intersection(.ofDelivery)
        passage.subtract(delivery)
        return delivery
    }
}

@inline(never)
private func deliverLateOnes(of promise: RecordPointer, _ thread: ThreadPointer) {
    // While the promise is settling, `finishHandOver` will see that none is left.
    while promise.inlineLeft == 0, promise.pointee.state.read().phase == .delivering,
        let late = promise.pointee.state.transitionAfterDelivery()
    {
        // Counted as one until all are on the list.
        promise.inlineLeft += 1
        let isRejected = promise.value.isError
        var batch = SlotList(reversing: late)
        while let next = batch.popFirst() {
            next.markOut()
            if next.handles(rejected: isRejected) {
                deferInline(next, of: promise, thread)
            } else {
                passThrough(next, thread)
            }
        }
        promise.inlineLeft -= 1
    }
}

// MARK: Passing through: settling a reaction without its handler

/// The promise that a reaction has begun to read (owned), or the error that it reads instead.
///
/// A read-modify-write costs as much as thirty other instructions, so the usual ways do without one: a reaction that only its
/// thread has (`isUnseen`), and an inline reaction without a token or context (Reactions/Run.swift).
struct Reading {
    /// Nil for work that reads no promise.
    let promise: RecordPointer?
    /// The error of a reaction that was cancelled before it began.
    let cancellation: vow_value?

    /// A `finally` reads the outcome of its promise, though cancelled: it has to clean up.
    func input(of reaction: RecordPointer) -> vow_value {
        if let cancellation, promise == nil || !reaction.pointee.shape.contains(.finally) {
            return cancellation
        }
        return promise?.value ?? vow_none()
    }

    func release(_ thread: ThreadPointer) {
        promise?.release(thread)
        cancellation?.release(thread)
    }
}

/// open → running. The caller gets the promise that the reaction reads. Nil: the reaction was withdrawn.
@inline(__always)
func begin(_ reaction: RecordPointer) -> Reading? {
    if reaction.isUnseen && reaction.pointee.state.read().phase == .open {
        let promise = reaction.upstream
        reaction.pointee.state.run()
        return Reading(promise: promise, cancellation: nil)
    }
    if let word = reaction.pointee.state.lock(whileIn: .open) {
        let promise = reaction.upstream
        reaction.pointee.state.unlock(.running, word.head)
        return Reading(promise: promise, cancellation: nil)
    }
    return beginCancelled(reaction)
}

/// Settles a reaction that has no handler for its promise's outcome. Its context is destroyed on its executor; or, if any
/// thread will do, after the hand-over: then the caller calls `drainLeftovers`.
@inline(never)
func passThrough(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if !reaction.pointee.shape.contains(.extras) {
        skip(reaction, thread)
    } else if let executor = reaction.executorOfContext, !reaction.passage.contains(.isRefused),
        !isAt(executor, thread), !isCurrent(executor, thread)
    {
        reaction.passage.insert(.passes)
        submit(reaction, thread)
    } else {
        thread.pointee.agenda.skipped.append(reaction)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The executor that destroys the context. Nil: no context, or any thread will do. Later it may be gone.
    var executorOfContext: ExecutorPointer? { hasContextToDestroy ? executorOfContextKept : nil }

    @inline(never)
    private var executorOfContextKept: ExecutorPointer? {
        guard !isInline, let destroy = extras.pointee.destroy, !isOwn(destroy)
        else { return nil }
        return executorElsewhere?.ownsThread
    }
}

/// Settles a reaction without its handler, or a follower whose context was kept.
@inline(never)
func skip(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.flags.contains(RecordFlag.follows) {
        endFollowing(reaction, thread)
        return
    }
    guard let reading = begin(reaction) else {
        dropWithdrawn(reaction, thread)
        return
    }
    let runs =
        reading.cancellation != nil
        && reaction.handles(rejected: reading.input(of: reaction).isError)
    // A reaction with nothing to run there keeps the outcome that it passes on.
    let keepsOutcome =
        reaction.passage.contains(.passes) || reading.cancellation != nil && !runs
    let isRefused = reaction.passage.contains(.isRefused) && !keepsOutcome
    if runs && !isRefused {
        handBack(reaction, reading, thread)
        return
    }
    var value = (reading.cancellation ?? reading.promise?.value ?? vow_none()).retained()
    if isRefused {
        value.release(thread)
        value = refusal(reaction.passage)
    } else if reading.promise == nil && reading.cancellation == nil {
        fatal("a reaction that reads no promise was passed through")
    }
    passOn(reaction, reading, value, thread)
}

private func refusal(_ passage: Passage) -> vow_value {
    if passage.contains(.isShutOut) { return ownErrors.shutDown }
    return passage.contains(.lacksThread) ? ownErrors.noMemory : ownErrors.forked
}

/// Settles a begun reaction with a value (consumed) without calling a handler.
@inline(never)
func passOn(
    _ reaction: RecordPointer, _ reading: Reading, _ value: vow_value, _ thread: ThreadPointer
) {
    let executor = reaction.executor
    destroyContext(of: reaction, reading: reading.promise, thread)
    asOneStep(thread) {
        if let promise = reading.promise { finishDelivery(of: reaction, promise, thread) }
        if reading.cancellation == nil {
            conclude(reaction, begunAs: .running, value, thread)
        } else {
            concludeCancelled(reaction, value, thread)
        }
        reading.release(thread)
    }
    executor?.release(thread)
}

/// Settles a running reaction with an outcome (consumed), unless it was cancelled.
@inline(__always)
func conclude(
    _ reaction: RecordPointer, begunAs phase: Phase, _ value: vow_value, _ thread: ThreadPointer
) {
    if settle(reaction, from: phase, value, .given, thread) {
        count(thread.cell.pointee.counters.handlersDone)
    } else {
        concludeCancelled(reaction, nil, thread)
        value.release(thread)
    }
}

/// Drops a withdrawn reaction, which its executor or the list `skipped` had. A reaction whose canceller is left in the parent
/// stays; its promise goes on to the next reactions.
@inline(never)
func dropWithdrawn(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    let isEnded = reaction.pointee.flags.contains(RecordFlag.dropped)
    if !isEnded && !reaction.isLeftInStep {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    let executor = reaction.executor
    if isEnded { reaction.pointee.flags.remove(RecordFlag.dropped) }
    let read = reaction.isBegunByRunning ? reaction.source : reaction.upstream
    if let promise = isEnded ? reaction.withdrawnUpstream : read {
        asOneStep(thread) {
            finishDelivery(of: reaction, promise, thread)
            promise.release(thread)
        }
    }
    if !isEnded { return }
    executor?.release(thread)
    reaction.releaseProducer(thread)
}

/// Destroys the context of a reaction whose handler has run, or will not run.
@inline(never)
func destroyContext(
    of reaction: RecordPointer, reading promise: RecordPointer?, _ thread: ThreadPointer
) {
    guard reaction.hasContextToDestroy, let destroy = reaction.extras.pointee.destroy else {
        return
    }
    let own = reaction.executorOfContext.flatMap { isAt($0, thread) ? $0 : nil }
    // A wait in the destructor for the reaction's own promise must be seen.
    withFrame(of: reaction, promise, on: own ?? thread.pointee.frame?.pointee.executor, thread) {
        carrying(reaction.surroundings?.retained(), thread) {
            destroy(reaction.link.pointee.context)
        }
    }
}
