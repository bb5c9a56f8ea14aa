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
    promise.upstream = followed
    if followed != promise && followed.pointee.state.read().hasValue {
        followed.pointee.isObserved.set()
        settleWithOutcome(promise, thread)
        return
    }
    promise.pointee.state.transitionToFollowing()
    if promise.pointee.hasFollowers.isSet {
        // Before they move on: all that hangs on the member of a ring is rejected with it.
        if leads(from: followed, to: promise, thread) {
            rejectCycle(promise, thread)
            return
        }
        if yieldFollowers(of: promise, thread) { return }
    }
    if isUnreadable(promise) {
        abandon(promise, thread)
    } else {
        attach(promise, thread)
    }
}

/// A member of a settled promise's queue follows that promise: it takes the outcome.
func takeOutcome(_ follower: RecordPointer, _ thread: ThreadPointer) {
    guard follower.pointee.state.transitionToClaimed(from: .following) else {
        fatal("a follower was settled twice")
    }
    settleWithOutcome(follower, thread)
}

/// Puts a follower into the queue of the promise at the end of the path, or settles it.
private func attach(_ follower: RecordPointer, _ thread: ThreadPointer) {
    while true {
        guard let end = endOfPath(from: follower, thread) else {
            rejectCycle(follower, thread)
            return
        }
        if end.waits && mayCloseRing(follower)
            && leads(from: end.promise, to: follower, thread)
        {
            end.promise.release(thread)
            rejectCycle(follower, thread)
            return
        }
        // Before entering: whoever sees the member sees the marks, and whom it follows.
        end.promise.pointee.isObserved.set()
        end.promise.pointee.hasFollowers.set()
        redirect(follower, to: end.promise, thread)
        let obstacle = end.promise.pointee.state.enlist(
            follower, while: end.holdsOutcome ? .ofWaiters : .ofFollowers)
        guard let obstacle else {
            // From here on the follower is its queue's.
            nudgeWaitingThreads()
            return
        }
        if obstacle.hasValue {
            takeOutcome(follower, thread)
            return
        }
    }
}

/// Lets the followers of a promise that nobody else reads follow what it follows; the promise dies.
/// False when somebody else reads it, or when it has many followers: then it stays between them.
private func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    guard var moving = takeFollowers(of: promise) else { return false }
    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    while let follower = moving.popFirst() {
        if follower.pointee.hasFollowers.isSet, let theirs = takeFollowers(of: follower) {
            // It stayed in between earlier, because somebody read it then.
            moving.append(theirs)
            abandon(follower, thread)
        } else if isUnreadable(follower) && follower.pointee.isObserved.isSet {
            // Passed by on the way of its own follower, which reports in its place, and given up by
            // its holders.
            abandon(follower, thread)
        } else {
            followed.retain()
            redirect(follower, to: followed, thread)
            attach(follower, thread)
        }
    }
    abandon(promise, thread)
    return true
}

/// Empties the queue of a following promise that has nothing but a few followers, and no other holder.
/// Whoever walks past it at this moment counts as one.
private func takeFollowers(of promise: RecordPointer) -> MemberList? {
    let most = 16
    var followers = 0
    let word = promise.pointee.state.lock()
    var member = word.head
    while let current = member, followers <= most, isFollower(current) {
        followers += 1
        member = current.next
    }
    let onlyFollowers = member == nil && followers > 0 && followers <= most
    let theirs = UInt64(followers) | 1 << 32
    let isFree =
        onlyFollowers && promise.pointee.counts.loadAcquire() == theirs
        && !promise.progress.contains(.outcomeIsHeld)
    promise.pointee.state.unlock(.following, isFree ? nil : word.head)
    return isFree ? MemberList(reversing: word.head) : nil
}

/// Whether somebody waits for the follower. A `finally` can get followers of its own at any time. Others are
/// asked with a read-modify-write, so that what this thread saw before comes before the registration of
/// whoever begins to wait afterwards: see docs/threads.md.
private func mayCloseRing(_ follower: RecordPointer) -> Bool {
    if follower.progress.contains(.outcomeIsHeld) { return true }
    let word = follower.pointee.state.lock()
    follower.pointee.state.unlock(word.phase, word.head)
    return word.head != nil
}

private func isFollower(_ member: RecordPointer) -> Bool {
    !member.pointee.shape.contains(.waiter) && member.pointee.state.read().phase == .following
}

/// Whether nobody holds the promise and nobody waits for it: its outcome can reach nobody.
private func isUnreadable(_ promise: RecordPointer) -> Bool {
    promise.pointee.counts.loadAcquire() == 1 << 32
        && promise.pointee.state.read().head == nil
        && !promise.progress.contains(.outcomeIsHeld)
}

/// Lets go of a follower that stands in no queue and that nobody reads. It stays following, with its
/// reference, for those who walk past it at this moment; the last of them frees it. What it followed goes
/// on, and reports its own rejection.
private func abandon(_ promise: RecordPointer, _ thread: ThreadPointer) {
    promise.releaseProducer(thread)
}

/// Changes whom a follower follows (consumed), under its lock, for those who walk past it meanwhile.
private func redirect(
    _ follower: RecordPointer, to followed: RecordPointer, _ thread: ThreadPointer
) {
    let word = follower.pointee.state.lock()
    let before = follower.upstream
    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    before?.release(thread)
}

private func rejectCycle(_ follower: RecordPointer, _ thread: ThreadPointer) {
    guard follower.pointee.state.transitionToClaimed(from: .following) else {
        fatal("a follower in a cycle was settled twice")
    }
    let followed = follower.upstream
    // Adopted, though in vain: its rejection, that of the same ring, is no news.
    if followed != follower { followed?.pointee.isObserved.set() }
    let outcome = takeHeldOutcome(follower)
    settle(follower, ownErrors.cycle, ownsProducer: true, thread)
    followed?.release(thread)
    outcome?.release(thread)
}

/// Settles a claimed promise with the outcome of the settled promise that it follows.
private func settleWithOutcome(_ promise: RecordPointer, _ thread: ThreadPointer) {
    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    let held = takeHeldOutcome(promise)
    var value = followed.value
    if let held, !value.isError { value = held.value }
    settle(promise, value.retained(), ownsProducer: true, thread)
    followed.release(thread)
    held?.release(thread)
}

/// For a `finally` that waited: the promise whose outcome is passed on, owned.
private func takeHeldOutcome(_ promise: RecordPointer) -> RecordPointer? {
    if !promise.progress.contains(.outcomeIsHeld) { return nil }
    promise.progress.remove(.outcomeIsHeld)
    return promise.link.pointee.outcome
}
