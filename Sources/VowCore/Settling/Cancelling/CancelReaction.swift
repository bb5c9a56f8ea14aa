// Cancelling what waits: a reaction that has not begun for the promise that it reads, a follower for the one it follows.
//
// Where it is the last reader it stays where it stands, and gets what comes down. A reaction that follows what its handler
// has returned stays in any case: that may use the context. Else it leaves. Its slot may be in use
// then: by the queue it stands in, which is left under that queue's lock, or by a thread that has just taken it out of
// there and says so by `markOut`, a few instructions later and before any foreign code.

import CVow

/// A reaction, claimed while it was open, does not wait for what it reads, or has nothing to wait for.
/// - Parameter hasLeft: its reference to that is a visit.
func cancelReaction(
    _ reaction: RecordPointer, _ error: vow_value, hasLeft: Bool, keepsValue: Bool,
    _ thread: ThreadPointer
) {
    reaction.pointee.flags.insert(RecordFlag.cancelled)
    // It may have come while its promise was settling already, and stand in the queue yet.
    if let promise = reaction.upstream, takeOut(reaction, thread) {
        if promise.pointee.state.read().hasValue && reaction.pointee.shape.contains(.finally) {
            if hasLeft { promise.comeBack() }
            readInput(of: promise, by: reaction, error, thread)
        } else {
            read(error, by: reaction, thread)
            if hasLeft { promise.endVisit(thread) } else { promise.release(thread) }
        }
        return
    }
    if hasLeft { reaction.upstream?.comeBack() }
    // An executor has it, or a list; whoever took it out of its queue is through with the slot. One that is begun by
    // running it may be running; and one that handles the error, or has a context to destroy there, is to be begun, if that
    // can be in this process.
    let canRun = !isForkedChild || !isLeftWithParent(reaction)
    let isToBegin =
        reaction.mayRunCancelled || reaction.executorOfContext.map { !isAt($0, thread) } ?? false
    if !reaction.isInline && (!isToBegin || !canRun) {
        withdraw(reaction, error, thread)
        return
    }
    if reaction.isBegunByRunning || reaction.upstream == nil {
        reaction.errorToCome = error.retained()
        if keepsValue { reaction.keepValue() }
    } else {
        reaction.errorToRead = error.retained()
    }
    reaction.pointee.state.transitionToCancelled()
}

/// A reaction that has left the queue of its promise is handed over with an error (borrowed) in place of that.
private func read(_ error: vow_value, by reaction: RecordPointer, _ thread: ThreadPointer) {
    let rejection = reaction.token.flatMap { rejectionFor($0) } ?? makeRejected(error, thread)
    reaction.upstream = rejection
    if reaction.isInline { reaction.source = rejection }
    reaction.beginOut()
    if !reaction.handles(rejected: true) { reaction.passage.insert(.passes) }
    reaction.pointee.state.transitionToCancelled()
    // The queue's reference is the list's now.
    thread.pointee.agenda.handOver.append(reaction)
}

/// A `finally` that has left the queue of a promise which is settled is handed over before its turn, and sees what there
/// is to clean up.
private func readInput(
    of promise: RecordPointer, by reaction: RecordPointer, _ error: vow_value,
    _ thread: ThreadPointer
) {
    if !reaction.handles(rejected: promise.value.isError) { reaction.passage.insert(.passes) }
    reaction.errorToRead = error.retained()
    reaction.pointee.state.transitionToCancelled()
    // The queue's reference is the list's now.
    thread.pointee.agenda.handOver.append(reaction)
}

/// A claimed reaction that no handler will run for, and that its executor, or a list, has: it is settled where it stands,
/// because these lists go through the lane and not the slot; who has it will find that and drop it.
private func withdraw(_ reaction: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.handlersDone)
    reaction.withdrawnUpstream = reaction.upstream
    reaction.pointee.flags.insert(RecordFlag.dropped)
    reaction.errorToCome = error.retained()
    reaction.retainProducer()
    reaction.pointee.state.transitionToCancelled()
    if reaction.hasContextToDestroy {
        thread.pointee.agenda.withdrawn.append(reaction)
    } else {
        endWithdrawn(reaction, thread)
    }
}

/// A follower that is locked. Returns what it follows (a visit), if that is to be cancelled first.
func cancelFollower(
    _ follower: RecordPointer, _ word: StateWord, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    follower.pointee.flags.insert(RecordFlag.cancelled)
    guard let promise = follower.upstream else { fatal("a promise follows nothing") }
    // An outcome that is there is about to be taken. And one that is on its way to another promise is asked again there, by
    // who moves it: in a forked child, perhaps nobody.
    if promise.pointee.state.read().hasValue || follower.isOnTheWay && !isForkedChild {
        follower.pointee.state.unlock(word.phase, word.head)
        return nil
    }
    // It may be asked twice: when it is cancelled, and by who then has put it into a queue, which the last reader has perhaps
    // not seen: see `loseInterest`.
    if follower.hasLeft {
        orderStoresBeforeLoads()
        let isUnread = promise.nowCounts.isUnread
        if isUnread { promise.visit() }
        follower.pointee.state.unlock(word.phase, word.head)
        return isUnread ? promise : nil
    }
    if !promise.leaveUnlessLast() {
        promise.visit()
        follower.pointee.state.unlock(word.phase, word.head)
        return promise
    }
    // In a forked child what it follows may be another thread's of the parent, for ever; one that has yielded is in no queue.
    if follower.pointee.shape.isReaction && !isForkedChild && !follower.isOut {
        let held = stayAsVisitor(follower, error)
        follower.pointee.state.unlock(word.phase, word.head)
        held?.release(thread)
        return nil
    }
    claimLockedFollower(follower, word)
    withdrawFollower(follower, error.retained(), thread)?.endVisit(thread)
    return nil
}

/// A reaction, locked, that follows what others read, and has left: it waits as a visitor, and is rejected then. Returns the
/// outcome that it was to pass on (owned), whose error comes before.
private func stayAsVisitor(_ follower: RecordPointer, _ error: vow_value) -> RecordPointer? {
    let held = takeHeldOutcome(follower, behind: error)
    follower.errorOfLeft = (held?.value.isError == true ? held?.value ?? error : error).retained()
    follower.pointee.flags.insert(RecordFlag.hasLeft)
    return held
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    var hasLeft: Bool {
        pointee.shape.isReaction && pointee.flags.contains(RecordFlag.hasLeft)
    }
}

/// Of a claimed follower that has left what it follows, and so has a visit there: the error to be rejected with, owned.
func takeErrorOfLeft(_ follower: RecordPointer) -> vow_value? {
    if !follower.hasLeft { return nil }
    follower.pointee.flags.remove(RecordFlag.hasLeft)
    return follower.errorOfLeft
}

/// A follower that the caller has locked. One that was abandoned has no queue's reference any more.
func claimLockedFollower(_ follower: RecordPointer, _ word: StateWord) {
    if follower.isOut { follower.retainProducer() }
    follower.pointee.state.unlock(.claimed, word.head)
}

/// A claimed follower is rejected with an error (consumed). Returns what it followed.
func withdrawFollower(
    _ follower: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    // Either way the queue's reference to the follower is this thread's now.
    _ = takeOut(follower, thread)
    let promise = follower.upstream
    // Adopted, though it may not have come to the queue: a rejection is no news.
    promise?.pointee.isObserved.set()
    if follower.keepsContext {
        follower.upstream = makeRejected(error, thread)
        error.release(thread)
        endLater(follower, thread)
        return promise
    }
    let held = takeHeldOutcome(follower, behind: error)
    settle(follower, from: .claimed, error, .given, thread)
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
