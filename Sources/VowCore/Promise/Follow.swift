// Adoption: a promise resolved with a promise follows it until it settles.
//
// A follower is itself the member of the followed promise's queue, so adopting allocates nothing. It
// stands in the queue of a promise that follows nobody. When that one is resolved with a promise in turn
// and nobody else reads it, its followers move on and it dies: a recursion of any depth stays flat.
//
// A cycle is found because each follower first publishes whom it follows (the step to `following`) and
// then walks: of several threads that close a ring together, the last to publish sees it whole.

import CVow

/// A claimed promise follows another one (consumed). For `ownsProducer` see `settle`.
func follow(
    _ followed: RecordPointer, by promise: RecordPointer, ownsProducer: Bool, _ thread: ThreadPointer
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
    if promise.pointee.hasFollowers.isSet && yieldFollowers(of: promise, thread) { return }
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
    var pause = Backoff()
    while let followed = follower.upstream {
        if followed == follower {
            rejectCycle(follower, thread)
            return
        }
        // Before entering: whoever sees the member sees the marks.
        followed.pointee.isObserved.set()
        followed.pointee.hasFollowers.set()
        guard let obstacle = followed.pointee.state.enlist(follower, while: .ofFollowers) else {
            nudgeBlockedOwners()
            return
        }
        if obstacle.hasValue {
            takeOutcome(follower, thread)
            return
        }
        if let further = followed.retainedUpstream() {
            redirect(follower, to: further, thread)
            pause.wait()
        }
    }
}

/// Lets the followers of a promise that nobody else reads follow what it follows; the promise dies.
/// False when somebody else reads it, or when it has many followers: then it stays between them.
private func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    let limit = 16
    var followers = 0
    let word = promise.pointee.state.lock()
    var member = word.head
    while let current = member, followers <= limit {
        if current.pointee.shape.contains(.waiter)
            || current.pointee.state.read().phase != .following
        {
            break
        }
        followers += 1
        member = current.next
    }
    let onlyFollowers = member == nil && followers > 0 && followers <= limit
    let theirs = UInt64(followers) | 1 << 32
    let isFree =
        onlyFollowers && promise.pointee.counts.loadAcquire() == theirs
        && !promise.pointee.progress.contains(.outcomeIsHeld)
    promise.pointee.state.unlock(.following, isFree ? nil : word.head)
    if !isFree { return false }

    guard let followed = promise.upstream else { fatal("a promise follows nothing") }
    var moving = MemberList(reversing: word.head)
    while let follower = moving.popFirst() {
        followed.retain()
        redirect(follower, to: followed, thread)
        attach(follower, thread)
    }
    abandon(promise, thread)
    return true
}

/// Whether nobody holds the promise and nobody waits for it: its outcome can reach nobody.
private func isUnreadable(_ promise: RecordPointer) -> Bool {
    promise.pointee.counts.loadAcquire() == 1 << 32
        && promise.pointee.state.read().head == nil
        && !promise.pointee.progress.contains(.outcomeIsHeld)
}

/// Frees a follower that stands in no queue and that nobody reads. What it followed goes on, and reports
/// its own rejection.
private func abandon(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let followed = promise.upstream
    promise.releaseProducer(thread)
    followed?.release(thread)
}

/// Changes whom a follower follows (consumed), under its lock, for those who walk the path meanwhile.
private func redirect(_ follower: RecordPointer, to followed: RecordPointer, _ thread: ThreadPointer) {
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
    if !promise.pointee.progress.contains(.outcomeIsHeld) { return nil }
    promise.pointee.progress.remove(.outcomeIsHeld)
    return promise.link.pointee.outcome
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// What this promise waits for, owned: read under the lock, because its queue or its claimer may
    /// change it. Nil when it waits for no promise, or not any more.
    func retainedUpstream() -> RecordPointer? {
        let word = pointee.state.lock()
        var upstream: RecordPointer?
        let reads = word.phase == .open && pointee.shape.contains(.link)
        if reads || word.phase == .following { upstream = self.upstream }
        upstream?.retain()
        pointee.state.unlock(word.phase, word.head)
        return upstream
    }
}
