// Settling a promise that has one member in its queue, or none and no reader: the usual link of a chain. What a list of
// members needs, a phase in which it is handed over and a reference for that time, this does without.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction: nobody can read it, nor cancel it, nor come to do so; who is about to run it has it alone.
    @inline(__always)
    var isUnseen: Bool {
        nowCounts.isOneProducers() && !pointee.shape.isTravelling
    }
}

/// Settles an open reaction that is begun by running it, with a value, and gives its producer's reference back, where no list of
/// members comes by that: nothing foreign can be called then, for the value is no object, or this is in a step, which frees at its
/// end. False, and nothing is consumed, where it is not so, where it was cancelled, and where somebody watches, who is told by those
/// that take longer.
@inline(__always)
func settleQuietly(
    _ reaction: RecordPointer, _ value: vow_value, _ thread: ThreadPointer
) -> Bool {
    if isWatched { return false }
    if reaction.isUnseen {
        if reaction.pointee.state.read().phase != .open { return false }
        reaction.value = value
        reaction.pointee.state.close()
        count(thread.cell.pointee.counters.promisesSettled)
        reclaim(reaction, thread)
        return true
    }
    guard let word = reaction.pointee.state.lock(whileIn: .open) else { return false }
    if let only = word.head {
        if !only.isClearlyLast || !only.isInlineReader(ofRejection: false) {
            reaction.pointee.state.unlock(.open, only)
            return false
        }
        reaction.value = value
        deliver(reaction, to: only, ownsProducer: true, thread)
    } else {
        reaction.value = value
        reaction.pointee.state.unlock(.settled, nil)
        reaction.releaseProducer(thread)
    }
    count(thread.cell.pointee.counters.promisesSettled)
    return true
}

/// A reaction that only this thread knows of: its producer is gone, and its reader is to come.
@inline(__always)
func settlePrivately(
    _ reaction: RecordPointer, _ value: vow_value, _ thread: ThreadPointer
) {
    writeOutcome(value, of: reaction, thread)
    reaction.pointee.state.close()
    reaction.pointee.counts.storeRelaxed(Counts.oneReader)
}

/// A promise, locked and with its value, has one member, which keeps it. False: it is one that has to be handed over.
@inline(__always)
func publish(
    _ promise: RecordPointer, to only: RecordPointer, ownsProducer: Bool, _ thread: ThreadPointer
) -> Bool {
    let isRejection = promise.value.isError
    let isTravelling = promise.pointee.shape.isTravelling
    if only.isInlineReader(ofRejection: isRejection) {
        deliver(promise, to: only, ownsProducer: ownsProducer, thread)
        if isTravelling { leaveToken(promise, thread) }
        return true
    }
    if only.isReader(ofRejection: isRejection), let queue = ownQueue(for: only, thread) {
        only.markOut()
        if ownsProducer { only.passage.insert(.holdsProducer) }
        queue.pointee.append(only)
        promise.pointee.state.unlock(.settled, nil)
        if isTravelling { leaveToken(promise, thread) }
        return true
    }
    if only.takesOutcome {
        promise.pointee.state.unlock(.settled, nil)
        if isTravelling { leaveToken(promise, thread) }
        asOneStep(thread) { thread.pointee.agenda.outcomes.append(only) }
        if ownsProducer { promise.releaseProducer(thread) }
        return true
    }
    return false
}

/// The usual link of a chain: no list of members to hand over, and so no step between settling and delivering.
/// The promise is locked; the reaction keeps it.
@inline(__always)
private func deliver(
    _ promise: RecordPointer, to only: RecordPointer, ownsProducer: Bool, _ thread: ThreadPointer
) {
    only.markOut()
    only.passage = ownsProducer ? .ofDelivery : .countedInline
    promise.inlineLeft = 1
    promise.pointee.state.unlock(.delivering, nil)
    thread.pointee.agenda.ready.append(only)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a member of a queue: it has a handler for the outcome, which this thread runs.
    @inline(__always)
    fileprivate func isInlineReader(ofRejection isRejection: Bool) -> Bool {
        // A thread that waits has no flags set.
        pointee.flags.snapshot & (RecordFlag.isInline | RecordFlag.follows) == RecordFlag.isInline
            && handles(rejected: isRejection)
    }

    /// The same, and some executor runs it.
    @inline(__always)
    fileprivate func isReader(ofRejection isRejection: Bool) -> Bool {
        pointee.shape.isReaction && !pointee.flags.contains(RecordFlag.follows)
            && handles(rejected: isRejection)
    }

    /// Of a member of a queue: it is told of the outcome by the thread that settles, before any foreign code. It has
    /// a reference to its promise.
    @inline(__always)
    var takesOutcome: Bool {
        let shape = pointee.shape
        return !shape.isWaiter
            && (!shape.isReaction || pointee.flags.contains(RecordFlag.follows))
    }
}
