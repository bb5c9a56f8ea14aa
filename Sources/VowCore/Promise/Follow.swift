// Adoption: a promise resolved with a promise follows it until it settles.
//
// A follower is itself the member of the followed promise's queue, so adopting allocates nothing. It
// stands in the queue of a promise that follows nobody. When that one is resolved with a promise in turn
// and nobody else reads it, its followers move on and it dies: a recursion of any depth stays flat.
//
// A `finally` that waits for its handler's promise follows it too, but has an outcome of its own: its
// followers stay in its queue.

import CVow

/// A claimed promise follows another one (consumed). For `ownsProducer` see `settle`.
func follow(
    _ followed: RecordPointer, by promise: RecordPointer, ownsProducer: Bool,
    _ thread: ThreadPointer
) {
    asOneStep(thread) { beginFollowing(followed, by: promise, ownsProducer: ownsProducer, thread) }
}

private func beginFollowing(
    _ followed: RecordPointer, by promise: RecordPointer, ownsProducer: Bool,
    _ thread: ThreadPointer
) {
    // While it follows, the queue it stands in is its producer.
    if !ownsProducer { promise.retainProducer() }
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
    // From here on it may be cancelled, by who then waits until this thread is through with its slot.
    // One that is cancelled is about to leave, and is a member of no ring.
    if promise.pointee.flags.contains(RecordFlag.hasFollowers) && !promise.isCancelled {
        // Before they move on: all that hangs on the member of a ring is rejected with it.
        if waitsForItself(promise, by: followed, thread) {
            rejectCycle(promise, thread)
            return
        }
        if yieldFollowers(of: promise, thread) { return }
    }
    if isUnread(promise) && !promise.pointee.shape.isReaction {
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
    let passes = mayPassFollowersOn(promise, word, besides: 1) && !promise.isOut
    promise.pointee.state.unlock(passes ? .claimed : word.phase, word.head)
    if !passes { return false }
    // The handle's reference keeps the promise meanwhile, as another producer's: nobody reads it but the followers.
    promise.retainProducer()
    _ = promise.pointee.counts.subtractAcquireRelease(1)
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
private func attach(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let bit = bit(of: follower)
    while true {
        guard let end = endOfPath(from: follower, thread) else {
            rejectCycle(follower, thread)
            return
        }
        // Before entering: whoever sees the member sees the marks, and whom it follows.
        end.promise.pointee.isObserved.set()
        end.promise.pointee.flags.insert(RecordFlag.hasFollowers)
        if !redirect(follower, to: end.promise, thread) { return }
        // Who cancelled it before it was redirected has gone to whom it followed then, and not on to here: that one was
        // perhaps passed.
        let isCancelled = follower.isCancelled
        // Once it is its queue's, this keeps it for a look at it.
        let isKept = isCancelled || end.waits
        if isKept { follower.retainProducer() }
        let obstacle = end.promise.pointee.state.enlist(
            follower, while: end.holdsOutcome ? .ofWaiters : .ofFollowers)
        guard let obstacle else {
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

/// Lets the followers of a promise that nobody else reads follow what it follows; the promise dies.
/// False when somebody else reads it, or when it has many followers: then it stays between them.
private func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    guard var moving = takeFollowers(of: promise, besides: 0) else { return false }
    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    // Outcomes wait until all have moved: who takes them may cancel one that is still on the list here.
    let outer = thread.pointee.isTakingOutcomes
    thread.pointee.isTakingOutcomes = true
    defer { thread.pointee.isTakingOutcomes = outer }
    // First: whoever cancels the last of its followers goes on with it. Those that are still to be moved keep it,
    // and it keeps what it followed, which gets no other reader here: its own followers may be about to move on.
    abandon(promise, thread)
    while let follower = moving.popFirst() {
        if follower.pointee.flags.contains(RecordFlag.hasFollowers),
            let theirs = takeFollowers(of: follower, besides: 1)
        {
            // It stayed in between earlier, because somebody read it then.
            moving.append(theirs)
            abandon(follower, thread)
        } else if isUnreadable(follower, besides: 1) && follower.pointee.isObserved.isSet {
            // Passed by on the way of its own follower, which reports in its place, and given up by
            // its holders.
            abandon(follower, thread)
        } else {
            followed.retain()
            if redirect(follower, to: followed, thread) { attach(follower, thread) }
        }
        follower.release(thread)
    }
    return true
}

/// Empties the queue of a following promise that has nothing but a few followers, and no other reader. Resolvers may be
/// held: they can say nothing any more. Whoever walks past it at this moment counts as a reader. Each follower is
/// retained: a walk of the caller may come to it, and must not have the last reference then, because the caller could
/// not wait for itself to let go.
/// - Parameter besides: how many references the caller has.
private func takeFollowers(of promise: RecordPointer, besides: UInt64) -> SlotList? {
    let word = promise.pointee.state.lock()
    let isFree = mayPassFollowersOn(promise, word, besides: besides)
    var taken: SlotList?
    if isFree {
        // Under the lock: who cancels one of them sees that it is in no queue.
        var list = SlotList()
        var current = word.head
        while let follower = current {
            current = follower.next
            moveDescents(from: follower, to: nil)
            follower.forgetPlace()
            follower.retain()
            list.prepend(follower)
        }
        taken = list
    }
    promise.pointee.state.unlock(word.phase, isFree ? nil : word.head)
    return taken
}

/// Whether a promise (locked) follows, has nothing but a few followers, and nobody else reads it.
private func mayPassFollowersOn(
    _ promise: RecordPointer, _ word: StateWord, besides: UInt64
) -> Bool {
    let most = 16
    if word.phase != .following || promise.progress.contains(.outcomeIsHeld)
        || promise.pointee.flags.contains(RecordFlag.cancelled) || promise.keepsContext
    {
        return false
    }
    var followers = 0
    var member = word.head
    while let current = member, followers <= most, isFollower(current) {
        followers += 1
        member = current.next
    }
    return member == nil && followers > 0 && followers <= most
        && promise.pointee.counts.loadAcquire() & 0xffff_ffff == UInt64(followers) + besides
        && isCancelledWithFollowers(promise, word)
}

/// Whether nobody can cancel the promise but through its followers (under its lock): it has no token, or they all
/// have the same.
private func isCancelledWithFollowers(_ promise: RecordPointer, _ word: StateWord) -> Bool {
    guard let source = promise.token else { return true }
    var member = word.head
    while let current = member {
        if current.token != source { return false }
        member = current.next
    }
    return true
}

private func isFollower(_ member: RecordPointer) -> Bool {
    let shape = member.pointee.shape
    return !shape.isWaiter && !shape.isObserver && member.pointee.state.read().phase == .following
}

/// Whether nobody but the caller holds the promise and nobody waits for it: its outcome can reach nobody.
private func isUnreadable(_ promise: RecordPointer, besides: UInt64) -> Bool {
    promise.pointee.counts.loadAcquire() == besides | 1 << 32
        && promise.pointee.state.read().head == nil
        && !promise.progress.contains(.outcomeIsHeld) && !promise.keepsContext
}

/// Whether no handle, reaction or follower is left to read the promise. It does not change back.
private func isUnread(_ promise: RecordPointer) -> Bool {
    promise.pointee.counts.loadAcquire() & 0xffff_ffff == 0
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
    settle(promise, ownErrors.cancelled, ownsProducer: true, thread)
    followed?.release(thread)
}

/// Lets go of a follower that stands in no queue and that nobody reads. It stays following, with its
/// reference, for those who walk past it at this moment; the last of them frees it. What it followed goes
/// on, and reports its own rejection.
private func abandon(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let word = promise.pointee.state.lock()
    let isFollowing = word.phase == .following
    // Known to whoever cancels it later, as the last who passed: the queue's reference is gone.
    if isFollowing { promise.beginOut() }
    promise.pointee.state.unlock(word.phase, word.head)
    if isFollowing {
        // Its token must not find it while it dies.
        if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
        promise.releaseProducer(thread)
    } else {
        promise.markOut()
    }
}

/// Changes whom a follower follows (consumed), under its lock, for those who walk past it meanwhile.
/// False when it was cancelled meanwhile: then this thread has let go of it.
private func redirect(
    _ follower: RecordPointer, to followed: RecordPointer, _ thread: ThreadPointer
) -> Bool {
    let word = follower.pointee.state.lock()
    if word.phase != .following {
        follower.pointee.state.unlock(word.phase, word.head)
        follower.markOut()
        followed.release(thread)
        return false
    }
    let before = follower.upstream
    if isWatched { noteFollows(follower, followed, isFirst: false) }
    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    if let before { leaveBehind(before, thread) }
    return true
}

/// A follower has gone on, past a promise (consumed) that it followed so far. If it was the last reader nobody needs
/// that, though it be a reaction: what it is for goes on with the follower.
private func leaveBehind(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.pointee.state.read().hasValue {
        promise.release(thread)
    } else {
        releasePending(promise, isPassed: true, thread)
    }
}

/// A follower (one reference consumed) that no queue has is a member of a ring, or would be if it were not cancelled.
private func rejectCycle(_ follower: RecordPointer, _ thread: ThreadPointer) {
    defer { follower.release(thread) }
    guard follower.pointee.state.transitionToClaimed(from: .following) else {
        follower.markOut()
        return
    }
    let followed = follower.upstream
    // Adopted, though in vain: its rejection, that of the same ring, is no news.
    if followed != follower { followed?.pointee.isObserved.set() }
    let error = follower.isCancelled ? cancellation(of: follower, thread) : ownErrors.cycle
    if follower.keepsContext {
        follower.upstream = makeRejected(error, thread)
        error.release(thread)
        followed?.release(thread)
        endLater(follower, thread)
        return
    }
    let outcome = takeHeldOutcome(follower)
    settle(follower, error, ownsProducer: true, thread)
    followed?.release(thread)
    outcome?.release(thread)
}

/// Settles a claimed promise with the outcome of the settled promise that it follows.
private func settleWithOutcome(_ promise: RecordPointer, _ thread: ThreadPointer) {
    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    let held = takeHeldOutcome(promise)
    var value = followed.value
    if let held, !value.isError { value = held.value }
    if promise.pointee.flags.contains(RecordFlag.cancelled) && !value.isError {
        value = promise.ownError
    } else {
        value.retained()
    }
    settle(promise, value, ownsProducer: true, thread)
    followed.release(thread)
    held?.release(thread)
}

/// For a `finally` that waited: the promise whose outcome is passed on, owned.
func takeHeldOutcome(_ promise: RecordPointer) -> RecordPointer? {
    if !promise.progress.contains(.outcomeIsHeld) { return nil }
    promise.progress.remove(.outcomeIsHeld)
    return promise.outcome
}
