// Adoption: a promise resolved with a promise follows it until it settles.
//
// A follower is itself the member of the followed promise's queue, so adopting allocates nothing. It
// stands in the queue of a promise that follows nobody. When that one is resolved with a promise in turn
// and nobody else reads it, its followers move on and it dies: a recursion of any depth stays flat.
//
// A `finally` that waits for its handler's promise follows it too, but has an outcome of its own: its
// followers stay in its queue.

import CVow

/// A claimed promise follows another one (consumed). For `hold` see `Hold`.
func follow(
    _ followed: RecordPointer, by promise: RecordPointer, _ hold: Hold,
    _ thread: ThreadPointer
) {
    asOneStep(thread) { beginFollowing(followed, by: promise, hold, thread) }
}

private func beginFollowing(
    _ followed: RecordPointer, by promise: RecordPointer, _ hold: Hold,
    _ thread: ThreadPointer
) {
    // While it follows, the queue it stands in is its producer.
    if hold == .lent { promise.retainProducer() }
    if isWatched { noteFollows(promise, followed, isFirst: true) }
    goOnFollowing(followed, by: promise, thread)
}

@inline(__always)
private func goOnFollowing(
    _ followed: RecordPointer, by promise: RecordPointer, _ thread: ThreadPointer
) {
    promise.upstream = followed
    promise.next = nil
    // Its lane is still that of its executor's list: who cancels it before it has come to a queue must not take it
    // for a place there.
    promise.forgetPlace()
    if followed != promise && followed.pointee.state.read().hasValue {
        followed.pointee.isObserved.set()
        if promise.keepsContext {
            endLater(promise, thread)
        } else {
            settleWithOutcome(promise, thread)
        }
        return
    }
    promise.pointee.flags.insert(RecordFlag.follows)
    promise.pointee.state.transitionToFollowing()
    // From here on it may be cancelled, by a thread that then waits until this one is through with the slot. A cancelled
    // follower is about to leave, and is a member of no ring; if it stays, `attach` sees that.
    if promise.pointee.flags.contains(RecordFlag.hasFollowers) && !promise.isCancelled {
        // Before they move on: all that hangs on the member of a ring is rejected with it.
        if waitsForItself(promise, by: followed, thread) {
            rejectCycle(promise, thread)
            return
        }
        if yieldFollowers(of: promise, thread) { return }
    }
    if promise.nowCounts.isUnread && !promise.pointee.shape.isReaction {
        giveUpFollowing(promise, thread)
    } else {
        attach(promise, thread)
    }
}

/// Gives a handle back. Where only that one has kept a promise between its followers and what it follows, they move on.
@inline(__always)
func releaseHandle(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.pointee.state.read().hasValue {
        promise.giveBack(1, thread)
    } else if !promise.pointee.flags.contains(RecordFlag.hasFollowers)
        || !passesFollowersOn(promise, thread)
    {
        releasePending(promise, thread)
    }
}

/// False: nothing was done. Else the promise (consumed) has begun to follow once more.
@inline(never)
private func passesFollowersOn(_ promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    let word = promise.pointee.state.lock()
    // The slot is a queue's only while it follows.
    let passes = mayPassFollowersOn(promise, word, besides: Counts.oneReader) && !promise.isOut
    promise.pointee.state.unlock(passes ? .claimed : word.phase, word.head)
    if !passes { return false }
    // The handle's reference keeps the promise meanwhile, as another producer's: nobody reads it but the followers.
    promise.retainProducer()
    _ = promise.pointee.counts.subtractAcquireRelease(Counts.oneReader)
    asOneStep(thread) {
        // Either way the queue's reference to it is this thread's now.
        _ = takeOut(promise, thread)
        guard let followed = promise.upstream else { fatal("a promise follows nothing") }
        goOnFollowing(followed, by: promise, thread)
        promise.releaseProducer(thread)
    }
    return true
}

/// A member of a settled promise's queue follows that promise: it takes the outcome, unless it was cancelled.
func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
    if follower.pointee.state.transitionToClaimed(from: .following) {
        if follower.keepsContext {
            endLater(follower, thread)
        } else {
            settleWithOutcome(follower, thread)
        }
    } else {
        follower.markOut()
    }
}

/// The same for one whose context is destroyed. Nobody else claims a follower that keeps a context and has its outcome.
func takeOutcomeAtLast(_ follower: RecordPointer, _ thread: ThreadPointer) {
    if !follower.pointee.state.transitionToClaimed(from: .following) {
        fatal("a promise that waits for its context was settled by somebody else")
    }
    settleWithOutcome(follower, thread)
}

/// Puts a follower into the queue of the promise at the end of the path, or settles it.
func attach(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let bit = bit(of: follower)
    while true {
        guard let end = endOfPath(from: follower, thread) else {
            rejectCycle(follower, thread)
            return
        }
        switch redirect(follower, to: end.promise, isVisit: true, thread) {
        case .isDone: break
        case .isLost: return
        // Somebody on the path was quicker, and has left it: the path is another one.
        case .isTooLate: continue
        }
        // Before entering: whoever sees the member sees the marks, and whom it follows.
        end.promise.pointee.isObserved.set()
        end.promise.pointee.flags.insert(RecordFlag.hasFollowers)
        // Who cancelled it before has gone to whom it followed then, and not on to here: that one was perhaps passed.
        let isCancelled = follower.isCancelled
        // Once it is its queue's, this keeps it for a look at it.
        let isKept = isCancelled || end.waits
        if isKept { follower.retainProducer() }
        guard let obstacle = enter(end, follower) else {
            // From here on the follower is its queue's.
            nudgeWaitingThreads(past: bit)
            if isKept { endEntering(follower, isCancelled, waits: end.waits, thread) }
            return
        }
        if isKept { follower.releaseProducer(thread) }
        if obstacle.hasValue {
            takeOutcome(follower, thread)
            return
        }
    }
}

/// Into the queue where its path ends. Returns what stood in the way otherwise.
private func enter(_ end: PathEnd, _ follower: RecordPointer) -> StateWord? {
    let promise = end.promise
    follower.forgetPlace()
    if !end.holdsOutcome { return promise.pointee.state.enlist(follower, while: .ofFollowers) }
    // One that follows may be left by its followers at this moment.
    let word = promise.pointee.state.lock()
    if word.hasValue || word.phase == .following && promise.hasYielded {
        promise.pointee.state.unlock(word.phase, word.head)
        return word
    }
    follower.next = word.head
    promise.pointee.state.unlock(word.phase, follower)
    return nil
}

/// Of a follower that has entered a queue, and was kept for this: it was cancelled before, or that promise waits itself.
@inline(never)
private func endEntering(
    _ follower: RecordPointer, _ isCancelled: Bool, waits: Bool, _ thread: ThreadPointer
) {
    if isCancelled {
        let error = cancellation(of: follower, thread)
        giveUpFollowed(by: follower, error, thread)
        error.release(thread)
    }
    if waits { rejectIfRing(follower, thread) }
    follower.releaseProducer(thread)
}

/// Of a follower that was cancelled: why (owned).
private func cancellation(of follower: RecordPointer, _ thread: ThreadPointer) -> vow_value {
    let known = thread.pointee.givingUp.flatMap { $0.reaction == follower ? $0.error : nil }
    return known?.retained() ?? follower.ownError
}

/// A promise that nobody reads has begun to follow. The producer of what it followed hears that, if it was the
/// last.
private func giveUpFollowing(_ promise: RecordPointer, _ thread: ThreadPointer) {
    guard promise.pointee.state.transitionToClaimed(from: .following) else {
        // By its last reader.
        promise.markOut()
        return
    }
    let followed = promise.upstream
    // Adopted, though in vain.
    followed?.pointee.isObserved.set()
    settle(promise, from: .claimed, ownErrors.cancelled, .given, thread)
    followed?.release(thread)
}

/// A follower (a visit, consumed) that no queue has is a member of a ring, or would be if it were not cancelled.
private func rejectCycle(_ follower: RecordPointer, _ thread: ThreadPointer) {
    defer { follower.endVisit(thread) }
    guard follower.pointee.state.transitionToClaimed(from: .following) else {
        follower.markOut()
        return
    }
    let followed = follower.upstream
    // Adopted, though in vain: its rejection, that of the same ring, is no news.
    if followed != follower { followed?.pointee.isObserved.set() }
    let own = takeErrorOfLeft(follower)
    let error =
        own ?? (follower.isCancelled ? cancellation(of: follower, thread) : ownErrors.cycle)
    if follower.keepsContext {
        follower.upstream = makeRejected(error, thread)
        error.release(thread)
        followed?.giveBack(leftWith: own, thread)
        endLater(follower, thread)
        return
    }
    let outcome = takeHeldOutcome(follower, behind: error)
    settle(follower, from: .claimed, error, .given, thread)
    followed?.giveBack(leftWith: own, thread)
    outcome?.release(thread)
}

/// Settles a claimed promise with the outcome of the settled promise that it follows.
private func settleWithOutcome(_ promise: RecordPointer, _ thread: ThreadPointer) {
    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    if promise.pointee.flags.contains(RecordFlag.cancelled) {
        settleCancelled(promise, followed, thread)
        return
    }
    var value = followed.value
    let held = takeHeldOutcome(promise, behind: value)
    if let held, !value.isError { value = held.value }
    _ = settleHere(promise, from: .claimed, value.retained(), .given, thread)
    followed.release(thread)
    held?.release(thread)
}

/// The same for one that is cancelled.
@inline(never)
private func settleCancelled(
    _ promise: RecordPointer, _ followed: RecordPointer, _ thread: ThreadPointer
) {
    let held = takeHeldOutcome(promise, behind: followed.value)
    let own = takeErrorOfLeft(promise)
    var value = followed.value
    if !value.isError, let mine = own ?? held?.value { value = mine }
    value = value.isError ? value.retained() : promise.ownError
    settle(promise, from: .claimed, value, .given, thread)
    followed.giveBack(leftWith: own, thread)
    own?.release(thread)
    held?.release(thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// - Parameter error: that its follower was to be rejected with, if it has left: then this was a visit.
    func giveBack(leftWith error: vow_value?, _ thread: ThreadPointer) {
        if error == nil { release(thread) } else { endVisit(thread) }
    }
}

/// For a `finally` that waited: the promise whose outcome is passed on, owned; unless what it waited for comes before, being
/// an error (borrowed).
@inline(__always)
func takeHeldOutcome(_ promise: RecordPointer, behind value: vow_value) -> RecordPointer? {
    if !promise.passage.contains(.outcomeIsHeld) { return nil }
    return takeOutcomeThatIsHeld(promise, behind: value)
}

@inline(never)
private func takeOutcomeThatIsHeld(
    _ promise: RecordPointer, behind value: vow_value
) -> RecordPointer? {
    promise.passage.remove(.outcomeIsHeld)
    if value.isError && !promise.isCancelled, let held = promise.outcome {
        reportIfReplaced(held, by: value)
    }
    return promise.outcome
}
