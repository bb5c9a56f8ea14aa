// How a cancelled reaction ends: when its handler, if one ran or is to run, has returned, what that returned is through,
// and its context is destroyed.

import CVow

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
