// Settling a reaction without its handler: what it has none for passes through.

import CVow

/// What a reaction that has begun reads; each promise is owned.
struct Reading {
    /// Nil for work that reads no promise.
    let promise: RecordPointer?
    /// It was cancelled before it began: what it reads instead.
    let cancellation: vow_value?

    /// Clean-up sees what there is to clean up.
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

/// open → running: the reaction is begun, and the promise it reads is the caller's. Nil when it was withdrawn.
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

/// Settles a reaction whose promise has an outcome that it does not handle. A context is destroyed on the reaction's
/// executor; or, where any thread will do, when the hand-over is over: call `drainLeftovers` then.
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
    /// Where the context is to be destroyed; nil: there is none, or any thread will do. Of one that is through, the executor
    /// may be gone.
    var executorOfContext: ExecutorPointer? { hasContextToDestroy ? executorOfContextKept : nil }

    @inline(never)
    private var executorOfContextKept: ExecutorPointer? {
        guard !isInline, let destroy = extras.pointee.destroy, !isOwn(destroy)
        else { return nil }
        return executorElsewhere?.ownsThread
    }
}

/// Settles a reaction without its handler, or, when its context is destroyed, one that follows.
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
    // One that has nothing to run there keeps the outcome that it passes on.
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

/// Settles a reaction that has begun, but calls no handler, with a value (consumed).
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

/// A reaction that was withdrawn is dropped by who had it: an executor, or the list of skipped ones. One that nobody ends in
/// this process stays; its promise goes on to those behind it.
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

/// Of a reaction whose handler does not run, or has run.
@inline(never)
func destroyContext(
    of reaction: RecordPointer, reading promise: RecordPointer?, _ thread: ThreadPointer
) {
    guard reaction.hasContextToDestroy, let destroy = reaction.extras.pointee.destroy else {
        return
    }
    let own = reaction.executorOfContext.flatMap { isAt($0, thread) ? $0 : nil }
    // Its own promise may be waited for in there, which must be seen.
    withFrame(of: reaction, promise, on: own ?? thread.pointee.frame?.pointee.executor, thread) {
        carrying(reaction.surroundings?.retained(), thread) {
            destroy(reaction.link.pointee.context)
        }
    }
}
