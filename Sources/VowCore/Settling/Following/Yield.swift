// Between its followers and what it follows nobody needs a promise that nobody else reads: the followers move on, and it
// dies. So a recursion of any depth stays flat.

import CVow

/// Lets the followers of a promise that nobody else reads follow what it follows; the promise dies.
/// False when somebody else reads it, or when it has many followers: then it stays between them.
func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    guard let (first, followed) = takeFollowers(of: promise, besides: 0) else { return false }
    var moving = first
    // Outcomes wait until all have moved: who takes them may cancel one that is still on the list here.
    let outer = thread.pointee.agenda.isTakingOutcomes
    thread.pointee.agenda.isTakingOutcomes = true
    defer { thread.pointee.agenda.isTakingOutcomes = outer }
    // First: whoever cancels the last of its followers goes on with it. Those that are still to be moved keep it,
    // and it keeps what it followed, which gets no other reader here: its own followers may be about to move on.
    letGo(ofYielded: promise, thread)
    while let follower = moving.popFirst() {
        if follower.pointee.flags.contains(RecordFlag.hasFollowers),
            let (theirs, next) = takeFollowers(of: follower, besides: Counts.oneVisitor)
        {
            // It stayed in between earlier, because somebody read it then.
            moving.append(theirs)
            next.endVisit(thread)
            letGo(ofYielded: follower, thread)
        } else if isUnreadable(follower, besides: Counts.oneVisitor)
            && follower.pointee.isObserved.isSet
        {
            // Passed by on the way of its own follower, which reports in its place, and given up by
            // its holders.
            abandon(follower, thread)
        } else if redirect(follower, to: followed, isVisit: false, thread) == .isDone {
            attach(follower, thread)
        }
        follower.endVisit(thread)
    }
    followed.endVisit(thread)
    return true
}

/// Empties the queue of a following promise that has nothing but a few followers, and no other reader or visitor, for ever:
/// the caller, whose reference to it was its queue's, is to let go of it. Resolvers may be held: they can say nothing any
/// more. Each follower, and what it followed itself, is visited.
/// - Parameter besides: which references the caller has, other than its queue's.
private func takeFollowers(
    of promise: RecordPointer, besides: UInt64
) -> (followers: SlotList, followed: RecordPointer)? {
    let word = promise.pointee.state.lock()
    let isFree = mayPassFollowersOn(promise, word, besides: besides)
    var taken: (SlotList, RecordPointer)?
    if isFree, let followed = promise.upstream {
        // Under the lock: who cancels one of them sees that it is in no queue.
        var list = SlotList()
        var current = word.head
        while let follower = current {
            current = follower.next
            moveDescents(from: follower, to: nil)
            follower.forgetPlace()
            follower.visit()
            list.prepend(follower)
        }
        followed.visit()
        taken = (list, followed)
        // From here on nobody enters it; who cancels it takes a producer's reference of its own.
        promise.beginOut()
    }
    promise.pointee.state.unlock(word.phase, isFree ? nil : word.head)
    return taken
}

/// Whether a promise (locked) follows, has nothing but a few followers, and nobody else reads it.
func mayPassFollowersOn(
    _ promise: RecordPointer, _ word: StateWord, besides: UInt64
) -> Bool {
    let most = 16
    if word.phase != .following || promise.passage.contains(.outcomeIsHeld)
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
        && promise.nowCounts.isRead(by: followers, besides: besides)
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
    promise.nowCounts.isOneProducers(besides: besides)
        && promise.pointee.state.read().head == nil
        && !promise.passage.contains(.outcomeIsHeld) && !promise.keepsContext
}

/// Of one that has yielded: it stays following, with its reference, for those who walk past it at this moment; the last of
/// them frees it. What it followed goes on, and reports its own rejection.
private func letGo(ofYielded promise: RecordPointer, _ thread: ThreadPointer) {
    // Its token must not find it while it dies.
    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    promise.releaseProducer(thread)
}

/// The same of a follower that stands in no queue, and that nobody reads or waits for.
private func abandon(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let word = promise.pointee.state.lock()
    let isFollowing = word.phase == .following
    // Known to whoever cancels it later, as the last who passed: the queue's reference is gone.
    if isFollowing { promise.beginOut() }
    promise.pointee.state.unlock(word.phase, word.head)
    if isFollowing {
        letGo(ofYielded: promise, thread)
    } else {
        promise.markOut()
    }
}
