// Cancelling what waits: a reaction that has not begun for the promise that it reads, a follower for the one it follows;
// and how a cancelled reaction ends.
//
// Where it is the last reader a reaction stays where it stands, and gets what comes down. A reaction that follows what its
// handler has returned stays in any case: that may use the context. Else the reaction leaves. Its slot may be in use
// then: by the queue it stands in, which is left under that queue's lock, or by a thread that has just taken it out of
// there and says so by `markOut`, a few instructions later and before any foreign code.
//
// A cancelled reaction ends when its handler, if one ran or is to run, has returned, what that returned is through, and its
// context is destroyed.

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

// MARK: How a cancelled reaction ends

/// Claims a reaction that is cancelled, or is being so at this moment. Acquires what the canceller left.
func claimCancelled(_ reaction: RecordPointer) {
    var pause = Backoff()
    while !reaction.pointee.state.transitionToClaimed(from: .cancelled) {
        if reaction.pointee.state.read().hasValue {
            fatal("a reaction was begun twice: an executor ran the same work again")
        }
        pause.wait()
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a claimed one that is cancelled: its error (owned).
    fileprivate func takeError() -> vow_value {
        guard let error = errorToCome else { return ownError }
        errorToCome = nil
        return error
    }

    /// Of a cancelled one: what its token says, or the plain error (owned).
    var ownError: vow_value {
        guard let source = token, let rejection = rejectionFor(source) else {
            return ownErrors.cancelled
        }
        let error = rejection.value.retained()
        rejection.release(currentThread())
        return error
    }
}

/// A reaction is begun that may be cancelled, or is being so: what it reads, the promise owned. Nil when it was withdrawn, or
/// a thread of the parent was cancelling it.
@inline(never)
func beginCancelled(_ reaction: RecordPointer) -> Reading? {
    var pause = Backoff()
    while true {
        let word = reaction.pointee.state.lock()
        if word.phase != .cancelled || reaction.pointee.flags.contains(RecordFlag.dropped) {
            reaction.pointee.state.unlock(word.phase, word.head)
            if word.phase != .claimed || reaction.isLeftInStep { return nil }
            pause.wait()
            continue
        }
        let given = reaction.errorToCome
        let promise =
            reaction.isBegunByRunning ? reaction.source : given == nil ? reaction.upstream : nil
        let error = given ?? reaction.errorToRead
        // Nothing to be found by who looks what it waits for.
        reaction.errorToCome = nil
        reaction.pointee.state.unlock(word.phase, word.head)
        if let error { return Reading(promise: promise, cancellation: error) }
        // What comes down: a rejection, if not by somebody who settled it at the same moment.
        let value = promise?.value ?? vow_none()
        return Reading(
            promise: promise, cancellation: value.isError ? value.retained() : reaction.ownError)
    }
}

/// A cancelled reaction that was begun to pass an outcome on, but reads what it handles: its executor is to begin it.
func handBack(_ reaction: RecordPointer, _ reading: Reading, _ thread: ThreadPointer) {
    let word = reaction.pointee.state.lock()
    if reaction.isBegunByRunning {
        reaction.errorToCome = reading.cancellation
    } else {
        reaction.errorToRead = reading.cancellation
        reaction.upstream = reading.promise
    }
    reaction.pointee.state.unlock(word.phase, word.head)
    reaction.passage.remove(.passes)
    asOneStep(thread) { thread.pointee.agenda.handOver.append(reaction) }
}

/// A reaction was cancelled while its handler ran: the result (consumed) is for nobody.
@inline(never)
func discard(_ result: vow_value, of reaction: RecordPointer, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.handlersDone)
    claimCancelled(reaction)
    if reaction.keepsValue && !result.isError {
        reaction.takeError().release(thread)
        keep(result, of: reaction, .given, thread)
    } else {
        end(reaction, result, reaction.takeError(), thread)
    }
}

/// A claimed reaction whose handler has returned a result (consumed), which no reader will see: an error (consumed).
func end(
    _ reaction: RecordPointer, _ result: vow_value, _ error: vow_value, _ thread: ThreadPointer
) {
    if result.promise == nil && !result.isThenable {
        settle(reaction, from: .claimed, error, .given, thread)
        result.release(thread)
        return
    }
    // What the handler has begun is not wanted either. Where that comes with a value all the same, this is passed on.
    reaction.outcome = makeRejected(error, thread)
    reaction.passage.insert(.outcomeIsHeld)
    reaction.visit()
    let outer = thread.pointee.givingUp
    thread.pointee.givingUp = (reaction, error)
    follow(makePromise(of: result, thread), by: reaction, .given, thread)
    thread.pointee.givingUp = outer
    giveUpFollowed(by: reaction, error, thread)
    error.release(thread)
    reaction.endVisit(thread)
}

/// A cancelled promise has begun to follow, or has gone on to another one.
func giveUpFollowed(
    by follower: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) {
    let word = follower.pointee.state.lock()
    if word.phase != .following {
        follower.pointee.state.unlock(word.phase, word.head)
    } else {
        cancelFurther(from: cancelFollower(follower, word, error, thread), error, thread)
    }
}

/// Settles a cancelled reaction that has nothing of its own to wait for with a value (consumed), or with its error.
func concludeCancelled(_ reaction: RecordPointer, _ value: vow_value?, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.handlersDone)
    claimCancelled(reaction)
    let error = reaction.takeError()
    settle(reaction, from: .claimed, value ?? error, .given, thread)
    if value != nil { error.release(thread) }
}

/// A claimed promise was asked to stop, and comes with a value (consumed) all the same: it is cancelled no more. A promise
/// is asked to stop in turn.
@inline(never)
private func keep(
    _ value: vow_value, of promise: RecordPointer, _ hold: Hold, _ thread: ThreadPointer
) {
    promise.pointee.flags.remove(RecordFlag.cancelled)
    if value.promise == nil && !value.isThenable {
        settle(promise, from: .claimed, value, hold, thread)
        return
    }
    promise.visit()
    follow(makePromise(of: value, thread), by: promise, hold, thread)
    ask(promise, thread)
}

enum CancelledEnd {
    case notCancelled, dropped, kept
}

/// The producer of a cancelled promise has ended its work with a value (consumed, unless it is not cancelled, or was ended
/// before). That is dropped, and for nobody, unless it is kept. The promise is settled, or will be by who is told last.
@inline(never)
func endCancelled(
    _ promise: RecordPointer, _ value: vow_value, _ hold: Hold, _ thread: ThreadPointer
) -> CancelledEnd {
    // A promise that is not cooperative is settled by `endTelling`.
    guard promise.pointee.shape.contains(.cooperative),
        let word = promise.pointee.state.lock(whileIn: .cancelled)
    else { return .notCancelled }
    if promise.isDoneMeanwhile {
        promise.pointee.state.unlock(word.phase, word.head)
        return .notCancelled
    }
    let isTold = promise.hooksLeft == 0
    let isKept = promise.keepsValue && !value.isError
    var error: vow_value?
    if isKept {
        error = promise.errorToCome
        promise.errorToCome = nil
        if !isTold { promise.value = value }
    }
    promise.isDoneMeanwhile = !isTold
    promise.pointee.state.unlock(isTold ? .claimed : word.phase, word.head)
    asOneStep(thread) {
        if isTold && isKept {
            keep(value, of: promise, hold, thread)
        } else if isTold {
            settle(promise, from: .claimed, promise.takeError(), hold, thread)
        } else if hold == .given {
            promise.releaseProducer(thread)
        }
        error?.release(thread)
        if isKept { return }
        if let begun = value.promise {
            cancelUnlessRead(begun, ownErrors.cancelled, thread)
        } else {
            value.release(thread)
        }
    }
    return isKept ? .kept : .dropped
}

/// All who were told that a promise (claimed) is cancelled have returned.
func settleTold(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if let error = promise.errorToCome {
        promise.errorToCome = nil
        settle(promise, from: .claimed, error, .lent, thread)
    } else {
        keep(promise.value, of: promise, .lent, thread)
    }
}

// MARK: Contexts

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a link.
    var hasContextToDestroy: Bool {
        pointee.shape.contains(.linkWithExtras) && extras.pointee.destroy != nil
    }

    /// Of a promise that follows: its context lives until what it follows is through.
    var keepsContext: Bool { hasContextToDestroy }
}

/// A claimed follower (one reference consumed) whose outcome is there gets it when its context is destroyed, which is
/// foreign code.
func endLater(_ follower: RecordPointer, _ thread: ThreadPointer) {
    follower.beginOut()
    follower.pointee.flags.insert(RecordFlag.follows)
    follower.pointee.state.transitionToFollowing()
    if follower.executorOfContext != nil {
        // An executor's `submit` is foreign code.
        follower.passage.insert(.passes)
        thread.pointee.agenda.handOver.append(follower)
    } else {
        thread.pointee.agenda.skipped.append(follower)
    }
}

/// A reaction that follows, or has followed, and has come to where its context is destroyed: what it follows is through.
func endFollowing(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let executor = follower.executorOfContext
    destroyContext(of: follower, reading: nil, thread)
    asOneStep(thread) { takeOutcomeAtLast(follower, thread) }
    executor?.release(thread)
}

/// A reaction that was withdrawn and has no context, or none any more.
func endWithdrawn(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    claimCancelled(reaction)
    settle(reaction, from: .claimed, reaction.takeError(), .given, thread)
}
