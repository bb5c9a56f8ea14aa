// Adoption: a promise resolved with a promise follows it until it settles.
//
// A follower is itself the member of the followed promise's queue, so adoption allocates nothing. The follower publishes the
// promise it follows (`transitionToFollowing`); then `attach` walks from there to the end of the path and enters that queue. A
// promise that is resolved with a thenable follows a new promise, which the thenable settles. A `finally` that waits for its
// handler's promise follows it, but has an outcome of its own: its followers' path ends there, in its queue.
//
// *Flat (G7).* A promise that begins to follow, and whose only holders are followers, lets these move on and is freed: a
// `loop(n)` that returns `loop(n - 1)` has at most one promise between the outermost and the innermost. A promise with another
// holder stays in between, with its followers. A promise whose followers have left stays following, with its reference to the
// followed promise, until the last thread that walks past it lets go; then it is freed.
//
// *Rings (G8).* A walk holds two visits (its place and Brent's mark), two more for each combined promise it is inside of, and
// at most one lock. The `upstream` of the walking follower does not change meanwhile. A walk that circles without meeting its
// follower finds the mark and rejects: a promise that follows a ring shares its end. Rings.swift has the search.
//
// *A moved follower counts twice for a while*: itself, and the promise in between, which is kept until it has let go.
// `redirect` writes `upstream` and `isOnTheWay` under the follower's lock, lets go of the promise in between without the lock,
// and clears the mark under the lock (`arrive`). A canceller that finds the mark, under the same lock, only sets the flag
// *cancelled*; the moving thread reads the flag after `arrive`, and cancels upwards once the follower is in its queue
// (`giveUpFollowed`). So the second at that lock sees the first. A promise in between that only this follower has is taken over
// without a mark: only the follower's `upstream`, read under its lock, leads there.
//
// *Followers leave a promise for ever.* `takeFollowers` empties the queue and marks the promise out in one locked section. A
// follower that is to enter the queue of a following promise looks at that mark under the lock (`hasYielded`), and walks on if
// it is set, so no follower enters a queue that no thread will take. The mark also says that the queue's reference is given
// back: a canceller, or a thread that gives up the last reader, takes a producer's reference before it unlocks
// (`claimLockedFollower`), because settling gives one back. The last follower may cancel such a promise, which then leaves its
// upstream; a later follower comes there, cancelled too, and takes the outcome.
//
// *A thread that moves followers* asks for each, under its lock, whether it still follows (`redirect`). If not, the thread
// marks it out and lets go. A follower that is claimed later enters all the same: the canceller finds it in that queue, or the
// next `redirect`, or `takeOutcome`, marks it out. Visits keep the followers meanwhile.

import CVow

/// A claimed promise follows another one (consumed). `hold`: see `Hold`.
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
    // While the promise follows, its queue's reference is its producer.
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
    // The lane still is the executor's list's. A canceller must not take it for a way back before the promise is in a queue.
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
    // A canceller may claim the promise from here on, and then waits until this thread is through with the slot. A cancelled
    // follower is about to leave and closes no ring; if it stays, `attach` sees that.
    if promise.pointee.flags.contains(RecordFlag.hasFollowers) && !promise.isCancelled {
        // Before the followers move on: all that follow the member of a ring are rejected with it.
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

/// Gives a handle back. If only this handle kept a promise between its followers and the followed promise, they move on.
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

/// Returns false if nothing was done. Else the promise (consumed) has begun to follow again.
@inline(never)
private func passesFollowersOn(_ promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    let word = promise.pointee.state.lock()
    // The slot is a queue's only while the promise follows.
    let passes = mayPassFollowersOn(promise, word, besides: Counts.oneReader) && !promise.isOut
    promise.pointee.state.unlock(passes ? .claimed : word.phase, word.head)
    if !passes { return false }
    // The handle's reference becomes another producer's and keeps the promise meanwhile: only followers read it.
    promise.retainProducer()
    _ = promise.pointee.counts.subtractAcquireRelease(Counts.oneReader)
    asOneStep(thread) {
        // The reference of the promise's queue is this thread's now, whichever way.
        _ = takeOut(promise, thread)
        guard let followed = promise.upstream else { fatal("a promise follows nothing") }
        goOnFollowing(followed, by: promise, thread)
        promise.releaseProducer(thread)
    }
    return true
}

/// Gives a follower the outcome of the settled promise it follows, unless the follower was cancelled.
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

/// `takeOutcome` for a follower whose context has been destroyed. Until then no other thread claims it.
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
        // The last reader of that promise left meanwhile. The path is another one now.
        case .isTooLate: continue
        }
        // Before entering: a thread that sees the member sees the marks and its `upstream`.
        end.promise.pointee.isObserved.set()
        end.promise.pointee.flags.insert(RecordFlag.hasFollowers)
        // A canceller that came earlier cancelled what the follower followed then, and may have passed this promise.
        let isCancelled = follower.isCancelled
        // Keeps the follower for a look at it, after it is in its queue.
        let isKept = isCancelled || end.waits
        if isKept { follower.retainProducer() }
        guard let obstacle = enter(end, follower) else {
            // The queue's owner may settle the follower from here on.
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

/// Enters the queue where the path ends. Otherwise returns the word that refused.
private func enter(_ end: PathEnd, _ follower: RecordPointer) -> StateWord? {
    let promise = end.promise
    follower.forgetPlace()
    if !end.holdsOutcome { return promise.pointee.state.enlist(follower, while: .ofFollowers) }
    // The followers of a following promise may leave it at this moment.
    let word = promise.pointee.state.lock()
    if word.hasValue || word.phase == .following && promise.hasYielded {
        promise.pointee.state.unlock(word.phase, word.head)
        return word
    }
    follower.next = word.head
    promise.pointee.state.unlock(word.phase, follower)
    return nil
}

/// Ends the entry of a follower that was cancelled before, or whose new upstream waits itself; the caller kept it for this.
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

/// The error (owned) of a cancelled follower.
private func cancellation(of follower: RecordPointer, _ thread: ThreadPointer) -> vow_value {
    let known = thread.pointee.givingUp.flatMap { $0.reaction == follower ? $0.error : nil }
    return known?.retained() ?? follower.ownError
}

/// Gives up the promise that an unread promise has begun to follow. If no reader is left there, its producer is notified.
private func giveUpFollowing(_ promise: RecordPointer, _ thread: ThreadPointer) {
    guard promise.pointee.state.transitionToClaimed(from: .following) else {
        // The last reader has claimed it.
        promise.markOut()
        return
    }
    let followed = promise.upstream
    // The promise was adopted, though in vain.
    followed?.pointee.isObserved.set()
    settle(promise, from: .claimed, ownErrors.cancelled, .given, thread)
    followed?.release(thread)
}

/// Rejects a follower (a visit, consumed) that is in no queue: it is a member of a ring, or would be if not cancelled.
private func rejectCycle(_ follower: RecordPointer, _ thread: ThreadPointer) {
    defer { follower.endVisit(thread) }
    guard follower.pointee.state.transitionToClaimed(from: .following) else {
        follower.markOut()
        return
    }
    let followed = follower.upstream
    // The promise was adopted, though in vain: its rejection, by the same ring, is no news.
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
    /// - Parameter error: the error of a follower that has left; then this reference is a visit.
    func giveBack(leftWith error: vow_value?, _ thread: ThreadPointer) {
        if error == nil { release(thread) } else { endVisit(thread) }
    }
}

/// The promise (owned) whose outcome a `finally` that waited passes on. An error that it waited for (borrowed) comes first.
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
    /// The follower was cancelled meanwhile. This thread has let go of it.
    case isLost
    /// The promise has no reader any more.
    case isTooLate
}

/// Changes a follower's `upstream`, under its lock, because other threads walk past it.
///
/// While the promise followed before may still be kept for the follower, it could be taken for another reader of the new one.
/// So a canceller that comes then leaves it to this thread to look for another reader.
/// - Parameter isVisit: `followed` is a visit (consumed) that may be unread; else borrowed: only a cancelled follower is late.
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
    // No other thread can reach `before`: its reference goes over to the follower, and it is freed.
    let inherits = before != followed && before.isOnlyMine && before.follows(followed)
    let stands = before == followed || inherits
    // A follower does not leave while it is on its way.
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
    /// For a promise that only the caller has.
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

/// A follower has gone past a promise (consumed) that it followed. If the follower was its last reader, the promise is not
/// needed any more, even a reaction: the follower takes its place.
private func leaveBehind(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.pointee.state.read().hasValue {
        promise.release(thread)
    } else {
        releasePending(promise, isPassed: true, thread)
    }
}

// MARK: Followers move on, and the promise they followed is freed

/// Lets the followers of a promise without another reader follow its upstream; the promise is freed. Returns false if the
/// promise has another reader, or many followers: then it stays in between.
func yieldFollowers(of promise: RecordPointer, _ thread: ThreadPointer) -> Bool {
    guard let (first, followed) = takeFollowers(of: promise, besides: 0) else { return false }
    var moving = first
    // Outcomes wait until all have moved: an outcome may cancel a follower that is still on the list.
    let outer = thread.pointee.agenda.draining
    thread.pointee.agenda.draining.insert(.outcomes)
    defer { thread.pointee.agenda.draining = outer }
    // First, because a canceller of the last follower goes on with this promise. The followers still to move keep the promise,
    // which keeps its upstream. That one gets no other reader here, since its own followers may be about to move on.
    letGo(ofYielded: promise, thread)
    while let follower = moving.popFirst() {
        if follower.pointee.flags.contains(RecordFlag.hasFollowers),
            let (theirs, next) = takeFollowers(of: follower, besides: Counts.oneVisitor)
        {
            // It stayed in between earlier, because it had another reader then.
            moving.append(theirs)
            next.endVisit(thread)
            letGo(ofYielded: follower, thread)
        } else if isUnreadable(follower, besides: Counts.oneVisitor)
            && follower.pointee.isObserved.isSet
        {
            // Another follower has passed it and reports in its place, and its holders gave it up.
            abandon(follower, thread)
        } else if redirect(follower, to: followed, isVisit: false, thread) == .isDone {
            attach(follower, thread)
        }
        follower.endVisit(thread)
    }
    followed.endVisit(thread)
    return true
}

/// Empties the queue of a following promise whose only holders are a few followers, for ever. The caller lets go of the
/// promise, with the queue's reference. Resolver handles may remain. Followers and `followed` are visited.
/// - Parameter besides: the caller's references, apart from the queue's.
private func takeFollowers(
    of promise: RecordPointer, besides: UInt64
) -> (followers: SlotList, followed: RecordPointer)? {
    let word = promise.pointee.state.lock()
    let isFree = mayPassFollowersOn(promise, word, besides: besides)
    var taken: (SlotList, RecordPointer)?
    if isFree, let followed = promise.upstream {
        // Under the lock: a canceller of a follower sees that it is in no queue.
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
        // No follower enters from here on. A canceller takes a producer's reference of its own.
        promise.beginOut()
    }
    promise.pointee.state.unlock(word.phase, isFree ? nil : word.head)
    return taken
}

/// The promise (locked) follows, and its only holders are a few followers.
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

/// Only followers can cancel the promise (locked): it has no token, or all have the same one.
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

/// Only the caller holds the promise, and its queue is empty: no reader can get its outcome.
private func isUnreadable(_ promise: RecordPointer, besides: UInt64) -> Bool {
    promise.nowCounts.isOneProducers(besides: besides)
        && promise.pointee.state.read().head == nil
        && !promise.passage.contains(.outcomeIsHeld) && !promise.keepsContext
}

/// Lets go of a promise whose followers have left. It stays following, with its reference, until the last thread that walks
/// past frees it. The followed promise goes on, and reports its own rejection.
private func letGo(ofYielded promise: RecordPointer, _ thread: ThreadPointer) {
    // The token must not find the promise while it is being freed.
    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    promise.releaseProducer(thread)
}

/// `letGo` of a follower that is in no queue and has no reader or member.
private func abandon(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let word = promise.pointee.state.lock()
    let isFollowing = word.phase == .following
    // Tells a later canceller that the queue's reference is given back.
    if isFollowing { promise.beginOut() }
    promise.pointee.state.unlock(word.phase, word.head)
    if isFollowing {
        letGo(ofYielded: promise, thread)
    } else {
        promise.markOut()
    }
}

// MARK: Thenables

/// A claimed promise follows a new one that the object (consumed) settles. The object, foreign code, is asked as handlers run.
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
    // One reader's reference for the follower, one producer's for the list of ready work.
    subscription.initialize(to: Record(.open, shape: shape, promises: 1, producers: 1))
    subscription.upstream = nil
    subscription.link.initialize(
        to: LinkPart(handler: nil, context: object.as.pointer, executor: nil))
    count(thread.cell.pointee.counters.promisesMade)
    if isWatched { noteMade(subscription, .subscription) }
    // Before `follow`, which may free an object whose destructor waits.
    thread.pointee.agenda.ready.append(subscription)
    follow(subscription, by: promise, hold, thread)
}
