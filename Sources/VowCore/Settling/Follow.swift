// Adoption: a promise resolved with a promise follows it until it settles.
//
// A follower is itself the member of the followed promise's queue, so adopting allocates nothing. It stands in the queue of
// a promise that follows nothing. When that one is resolved with a promise in turn and has no other reader, its followers
// move on and it dies: a recursion of any depth stays flat. Where a follower goes on, it goes further along its own path.
//
// A `finally` that waits for its handler's promise follows it too, but has an outcome of its own: its followers stay in its
// queue. A promise that is resolved with a thenable follows a new promise, which the thenable settles.

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

// MARK: A follower goes on to another promise

enum Redirection {
    case isDone
    /// The follower was cancelled meanwhile: this thread has let go of it.
    case isLost
    /// Nobody reads that promise any more.
    case isTooLate
}

/// Changes whom a follower follows, under its lock, for those who walk past it meanwhile.
///
/// As long as what it followed before may be kept for it, that one may be taken for another reader of what it follows now.
/// So who cancels it then leaves it to this thread to find out whether there is one.
/// - Parameter isVisit: the promise is a visit, consumed, and it may be too late for it; else it is borrowed, and nobody but
///   who is cancelled can come too late: see docs/threads.md.
func redirect(
    _ follower: RecordPointer, to followed: RecordPointer, isVisit: Bool, _ thread: ThreadPointer
) -> Redirection {
    let word = follower.pointee.state.lock()
    guard word.phase == .following, let before = follower.upstream else {
        follower.pointee.state.unlock(word.phase, word.head)
        follower.markOut()
        if isVisit { followed.endVisit(thread) }
        return .isLost
    }
    // Nobody comes to that any more: what it has goes over to the follower, and it dies.
    let inherits = before != followed && before.isOnlyMine && before.follows(followed)
    let stands = before == followed || inherits
    // It does not leave while it is on its way.
    let hasLeft = follower.hasLeft
    if !stands {
        if hasLeft {
            if !isVisit { followed.visit() }
        } else if !isVisit {
            followed.retain()
        } else if !followed.stay() {
            follower.pointee.state.unlock(word.phase, word.head)
            followed.endVisit(thread)
            return .isTooLate
        }
        follower.isOnTheWay = true
    }
    if inherits { before.upstream = nil }
    if isWatched && before != followed { noteFollows(follower, followed, isFirst: false) }
    follower.upstream = followed
    follower.pointee.state.unlock(word.phase, word.head)
    if stands && isVisit { followed.endVisit(thread) }
    if inherits { reclaim(before, thread) }
    if stands { return .isDone }
    if hasLeft { before.endVisit(thread) } else { leaveBehind(before, thread) }
    return arrive(follower)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of one that only the caller has.
    fileprivate func follows(_ followed: RecordPointer) -> Bool {
        pointee.state.read().phase == .following && upstream == followed
    }
}

private func arrive(_ follower: RecordPointer) -> Redirection {
    let word = follower.pointee.state.lock()
    let isMine = word.phase == .following
    if isMine { follower.isOnTheWay = false }
    follower.pointee.state.unlock(word.phase, word.head)
    if isMine { return .isDone }
    follower.markOut()
    return .isLost
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

// MARK: Followers move on, and what they followed dies

/// Lets the followers of a promise that nobody else reads follow what it follows; the promise dies.
/// False when somebody else reads it, or when it has many followers: then it stays between them.
func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    guard let (first, followed) = takeFollowers(of: promise, besides: 0) else { return false }
    var moving = first
    // Outcomes wait until all have moved: who takes them may cancel one that is still on the list here.
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining = .outcomes
    defer { thread.pointee.agenda.draining = outer }
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

// MARK: Thenables

/// A claimed promise follows a new one that the object (consumed) will settle. The object is foreign
/// code, so it is asked when inline handlers run, not here. For `hold` see `Hold`.
func followThenable(
    _ object: vow_value, by promise: RecordPointer, _ hold: Hold, _ thread: ThreadPointer
) {
    let shape: Shape = [.link, .subscription]
    guard let memory = takeMemory(shape.recordSize) else {
        follow(promiseWithoutMemory, by: promise, hold, thread)
        object.release(thread)
        return
    }
    let subscription = memory.bindMemory(to: Record.self, capacity: 1)
    // One promise reference for the follower, one producer's for the list of ready work.
    subscription.initialize(to: Record(.open, shape: shape, promises: 1, producers: 1))
    subscription.upstream = nil
    subscription.link.initialize(
        to: LinkPart(handler: nil, context: object.as.pointer, executor: nil))
    count(thread.cell.pointee.counters.promisesMade)
    if isWatched { noteMade(subscription, .subscription) }
    // First, because following may free something whose destructor waits.
    thread.pointee.agenda.ready.append(subscription)
    follow(subscription, by: promise, hold, thread)
}
