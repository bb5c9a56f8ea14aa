// Cancelling: reject a pending promise at once, take it out of whatever it waits in, and go on upstream.
//
// Whoever claims a promise has won against its settling. Its slot may still be in use: by the queue it stands in,
// which is left under that queue's lock, or by a thread that has just taken it out of there and says so by
// `markOut`, a few instructions later and before any foreign code. A reaction that its executor has is settled where
// it stands, because executors' lists go through the lane and not the slot; the executor finds it withdrawn and
// drops it.

import CVow

/// Rejects a pending promise (borrowed) with an error (borrowed). True when this call has done it.
func cancel(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) -> Bool {
    var isFirst = false
    asOneStep(thread) {
        promise.retain()
        isFirst = cancelUpwards(from: promise, error, thread)
    }
    return isFirst
}

/// A promise (consumed) is given up by who was interested in it: it is cancelled, unless somebody else is.
@inline(never)
func cancelUnlessRead(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    if promise.isReadByOthers {
        promise.release(thread)
    } else {
        asOneStep(thread) { _ = cancelUpwards(from: promise, error, thread) }
    }
}

/// From a promise (consumed) on, as far as nobody else reads.
private func cancelUpwards(
    from promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> Bool {
    var next: RecordPointer?
    let isFirst = withdraw(promise, error, upstream: &next, thread)
    promise.release(thread)
    while let current = next {
        next = nil
        if !current.isReadByOthers { _ = withdraw(current, error, upstream: &next, thread) }
        current.release(thread)
    }
    return isFirst
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a promise that the caller has one reference to. A walk that passes counts as a reader.
    fileprivate var isReadByOthers: Bool { pointee.counts.loadAcquire() & 0xffff_ffff != 1 }
}

/// Rejects one promise.
/// - Parameter upstream: what it waited for, owned, if it did.
private func withdraw(
    _ promise: RecordPointer, _ error: vow_value, upstream: inout RecordPointer?,
    _ thread: ThreadPointer
) -> Bool {
    var pause = Backoff()
    if isWatched && !promise.pointee.state.read().hasValue { noteCancelled(promise) }
    while true {
        let word = promise.pointee.state.lock()
        switch word.phase {
        case .open where promise.pointee.shape.isReaction:
            promise.pointee.state.unlock(.claimed, word.head)
            upstream = withdrawReaction(promise, error, thread)
            return true
        case .open, .running:
            withdrawWhereItStands(promise, word, error, thread)
            return true
        case .following:
            claimLockedFollower(promise, word)
            upstream = withdrawFollower(promise, error.retained(), thread)
            return true
        case .claimed:
            promise.pointee.state.unlock(word.phase, word.head)
            if promise.isLeftInStep { return false }
            pause.wait()
        case .settling, .delivering, .settled:
            promise.pointee.state.unlock(word.phase, word.head)
            return false
        }
    }
}

/// A promise whose slot is in no queue: its producer, or its running handler, will find it settled.
private func withdrawWhereItStands(
    _ promise: RecordPointer, _ word: StateWord, _ error: vow_value, _ thread: ThreadPointer
) {
    let isReaction = promise.pointee.shape.isReaction
    let hooks = isReaction ? nil : promise.hooks
    if !isReaction { promise.pointee.flags.insert(RecordFlag.withdrawn) }
    settleLocked(promise, word, error.retained(), ownsProducer: false, thread)
    if let hooks { dismiss(hooks, areCalled: true, thread) }
    if promise.pointee.shape.isProduced { promise.producer.pointee.stop(promise, thread) }
}

/// A claimed reaction that has not begun. Returns what it waited for, unless that has settled.
private func withdrawReaction(
    _ reaction: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    count(thread.cell.pointee.counters.handlersDone)
    let promise = reaction.upstream
    let wasWaiting = promise != nil && takeOut(reaction, thread)
    // The handler of an inline one may be running, and its thread reads its source; which is the same.
    if wasWaiting || !reaction.isBegunByRunning {
        reaction.withdrawnUpstream = wasWaiting ? nil : promise
    }
    dropRedirect(reaction, thread)
    reaction.pointee.flags.insert(RecordFlag.withdrawn)
    settle(reaction, error.retained(), ownsProducer: false, thread)
    if !wasWaiting { return nil }
    // The queue's reference is the list's now. Its context is foreign.
    thread.pointee.skipped.append(reaction)
    return promise
}

private func dropRedirect(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if !reaction.pointee.shape.isTravelling { return }
    reaction.travel.redirect?.release(thread)
    reaction.travel.redirect = nil
}

/// A follower that the caller has locked. One that was abandoned has no queue's reference any more.
func claimLockedFollower(_ follower: RecordPointer, _ word: StateWord) {
    if follower.isOut { follower.retainProducer() }
    follower.pointee.state.unlock(.claimed, word.head)
}

/// A claimed follower, with an error (consumed). Returns what it followed.
func withdrawFollower(
    _ follower: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    // Either way the queue's reference to the follower is this thread's now.
    _ = takeOut(follower, thread)
    let promise = follower.upstream
    // Adopted, though it may not have come to the queue: a rejection is no news.
    promise?.pointee.isObserved.set()
    let held = takeHeldOutcome(follower)
    settle(follower, error, ownsProducer: true, thread)
    held?.release(thread)
    return promise
}

/// Takes a member, claimed by the caller, out of the queue that it stands in. False: somebody else has, and does
/// not use its slot any more.
///
/// It may be on a list of outcomes: on this thread's own, which are taken here, or on that of another thread, which
/// is perhaps waiting here for one of this thread's.
func takeOut(_ member: RecordPointer, _ thread: ThreadPointer) -> Bool {
    var pause = Backoff()
    while true {
        if member.isOut { return false }
        guard let promise = member.upstream else { fatal("a member of a queue reads no promise") }
        if unlink(member, outOf: promise.pointee.state) { return true }
        if takeOwnOutcome(thread) { continue }
        // A thread of the parent has taken it out, and will never say so.
        if isForkedChild && isOnlyThread { return false }
        pause.wait()
    }
}
