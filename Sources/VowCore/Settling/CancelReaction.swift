// Cancelling a member of a queue: a reaction that has not begun, or a follower; and how a cancelled reaction ends.
//
// A member that is not the last reader leaves. The member is claimed first, and then at most two threads have it: the
// canceller, and the thread that has it as a member: the owner of the queue, a thread that moves followers, or an executor or
// list. They never use its slot at the same time. Three states of the slot tell them apart:
//
//   in a queue    the slot is the queue's, under the lock of its promise, or the taking thread's
//   out           `next` is 1 (`isOut`): no thread has the slot. `markOut` releases, and `isOut` acquires
//   on its way    neither: the canceller waits, and only reads the slot
//
// `takeOut` ends in one of two ways. The member is found in the queue of its `upstream`, under that queue's lock, and unlinked:
// queues are changed only under the lock, or by one step that waits for the lock, so no other thread has found it. Or the
// member is out. Either way the slot is the canceller's. `upstream` does not change meanwhile: only a thread that moves the
// member changes it, under the member's lock and while the member is following.
//
// *The owner of the queue* reads `next` before it marks out. Reactions are marked out before they are put on a list, which
// links them by their lanes. `takeOutcome` and `fire` claim the member first, and mark it out if they cannot. *An executor*
// begins its member with `lock(whileIn:)`. If that fails it waits while the reaction is claimed. Then the reaction is
// cancelled: the executor takes `upstream` and the error under the lock, and the phase stays, so that a running handler is not
// cancelled twice. Or `RecordFlag.dropped` is set, by the claimer before the step to cancelled, and the executor drops it.
//
// *The ends.* A reaction taken out of its queue reads a rejection (`read`), and the canceller hands it over. A reaction of an
// executor or list stays there, cancelled; one with nothing to run is *withdrawn*: settled where it is, after its context is
// destroyed. A follower is settled by the canceller, or after its kept context is destroyed (`endLater`). A reaction that came
// while its promise was settling is in the queue though there is a value; so the canceller always looks there first.
//
// *A visit instead of a reader.* A reaction that follows a promise with other readers stays, because that promise may use its
// context: its reference becomes a visit, the flag `hasLeft` says so, and the error has the handler's place (`stayAsVisitor`).
// When the last reader goes, its thread looks under the promise's lock for members (`loseInterest`); a visitor that enters the
// queue looks for readers afterwards (`cancelFollower`), behind a fence. One of the two sees the other and cancels the promise.
// A reaction that was handed over while it left reads the promise after all: `comeBack` adds the reader before the step to
// cancelled. That promise is settling, so no thread asks for its readers any more.
//
// *No thread waits for ever.* A thread with a member in its hands must not wait for a claimer. A settling thread waits for
// nothing between its step and `markOut`, and puts off requests of observers until its `outcomes` are empty (`callBack`). A
// thread that waits in `takeOut` takes its own outcomes, so two threads that wait for each other's members go on. While
// followers move, no outcome is taken: it might cancel a follower still to be moved. Foreign code runs only after the step.
//
// *References.* The thread that gets the slot gets the queue's producer reference: a follower is settled with it, a reaction is
// handed over with it. `withdraw` takes one more, and the executor keeps its own. The canceller keeps the member's upstream by
// a visit, taken before it unlocks the member, or, above a plain link, by that promise's lock.
//
// *Quiet (G14).* A reaction settles (`complete`, `runCancelled`, `passOn`, `endFollowing`) on the thread on which its handler
// has returned and then its context was destroyed; a withdrawn one on the thread that destroyed the context. *Clean-up (G15).*
// Every reaction that handles an error is begun once, by its executor, unless the executor runs nothing in this process.
//
// *A kept context* ends last. The thread that has the outcome claims the follower, marks it out, lets it follow again and puts
// it on `skipped`, or hands it to its executor; its context is destroyed there, and then it is settled. No other thread claims
// it meanwhile: a canceller sees the value and only sets the flag; `loseInterest` leaves it alone; its followers stay.

import CVow

/// Cancels a reaction that was claimed while open and does not wait for its promise.
/// - Parameter hasLeft: the reference to that promise is a visit.
func cancelReaction(
    _ reaction: RecordPointer, _ error: vow_value, hasLeft: Bool, keepsValue: Bool,
    _ thread: ThreadPointer
) {
    reaction.pointee.flags.insert(RecordFlag.cancelled)
    // The reaction may have come while its promise was settling, and still be in the queue.
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
    // An executor or a list has it, and the slot is this thread's. An inline reaction may be running. A reaction that handles
    // the error, or has a context to destroy on its executor, is begun there, if the executor runs in this process.
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

/// Hands a reaction that has left its promise's queue over with an error (borrowed) in place of the outcome.
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

/// Hands a `finally` that has left the queue of a settled promise over before its turn. It reads the outcome, to clean up.
private func readInput(
    of promise: RecordPointer, by reaction: RecordPointer, _ error: vow_value,
    _ thread: ThreadPointer
) {
    if !reaction.handles(rejected: promise.value.isError) { reaction.passage.insert(.passes) }
    reaction.errorToRead = error.retained()
    reaction.pointee.state.transitionToCancelled()
    thread.pointee.agenda.handOver.append(reaction)
}

/// Settles a claimed reaction, which no handler will run for, where it is. Its executor or list, linked by lanes, drops it.
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

/// Cancels a follower (locked). Returns the followed promise (a visit) if that is to be cancelled next.
func cancelFollower(
    _ follower: RecordPointer, _ word: StateWord, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    follower.pointee.flags.insert(RecordFlag.cancelled)
    guard let promise = follower.upstream else { fatal("a promise follows nothing") }
    // The outcome is about to be taken, or the thread that moves the follower asks again; a forked child may lack that thread.
    if promise.pointee.state.read().hasValue || follower.isOnTheWay && !isForkedChild {
        follower.pointee.state.unlock(word.phase, word.head)
        return nil
    }
    // Asked twice: when the reaction is cancelled, and again after it has entered a queue, because the last reader may have
    // gone without seeing it there: see `loseInterest`.
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
    // In a forked child the followed promise may be left with the parent. A follower that has yielded is in no queue.
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

/// Makes a reaction (locked) that follows a promise with other readers a visitor. It waits, and is rejected then. Returns the
/// promise (owned) whose outcome it was to pass on; that one's error comes first.
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

/// The error (owned) of a claimed follower whose reference to the followed promise is a visit.
func takeErrorOfLeft(_ follower: RecordPointer) -> vow_value? {
    if !follower.hasLeft { return nil }
    follower.pointee.flags.remove(RecordFlag.hasLeft)
    return follower.errorOfLeft
}

/// Claims a follower that the caller has locked. An abandoned one has no queue's reference any more.
func claimLockedFollower(_ follower: RecordPointer, _ word: StateWord) {
    if follower.isOut { follower.retainProducer() }
    follower.pointee.state.unlock(.claimed, word.head)
}

/// Rejects a claimed follower with an error (consumed). Returns the promise that it followed.
func withdrawFollower(
    _ follower: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer? {
    // The queue's reference to the follower is this thread's now, whichever way.
    _ = takeOut(follower, thread)
    let promise = follower.upstream
    // The promise was adopted, perhaps before its queue was reached: its rejection is no news.
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

/// Takes a member, claimed by the caller, out of its queue. False: another thread has taken it out and is through with the
/// slot. It may be on a list of outcomes: this thread's, which are taken here, or one of a thread that waits here likewise.
func takeOut(_ member: RecordPointer, _ thread: ThreadPointer) -> Bool {
    var pause = Backoff()
    while true {
        if member.isOut { return false }
        guard let promise = member.upstream else { fatal("a member of a queue reads no promise") }
        if unlink(member, outOf: promise.pointee.state) { return true }
        if takeOwnOutcome(thread) { continue }
        // A thread of the parent has taken it out and never marks it out.
        if isForkedChild && isOnlyThread { return false }
        pause.wait()
    }
}

// MARK: How a cancelled reaction ends

/// Claims a reaction that is cancelled, or is being cancelled. Acquires what the canceller wrote.
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
    /// The error (owned) of a claimed, cancelled reaction.
    fileprivate func takeError() -> vow_value {
        guard let error = errorToCome else { return ownError }
        errorToCome = nil
        return error
    }

    /// The error (owned) of its token, or the plain one.
    var ownError: vow_value {
        guard let source = token, let rejection = rejectionFor(source) else {
            return ownErrors.cancelled
        }
        let error = rejection.value.retained()
        rejection.release(currentThread())
        return error
    }
}

/// Begins a reaction that is cancelled or being cancelled. Its promise in the result is owned. Nil: the reaction was withdrawn,
/// or a thread of the parent was cancelling it.
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
        // A look ahead must not find the error.
        reaction.errorToCome = nil
        reaction.pointee.state.unlock(word.phase, word.head)
        if let error { return Reading(promise: promise, cancellation: error) }
        // The rejection that comes down, unless another thread settled the promise at the same moment.
        let value = promise?.value ?? vow_none()
        return Reading(
            promise: promise, cancellation: value.isError ? value.retained() : reaction.ownError)
    }
}

/// Gives a cancelled reaction, begun to pass an outcome on but with a handler for what it reads, back to its executor.
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

/// Gives up the result (consumed) of a handler whose reaction was cancelled while it ran.
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

/// Ends a claimed reaction with an error (consumed); no reader will see its handler's result (consumed).
func end(
    _ reaction: RecordPointer, _ result: vow_value, _ error: vow_value, _ thread: ThreadPointer
) {
    if result.promise == nil && !result.isThenable {
        settle(reaction, from: .claimed, error, .given, thread)
        result.release(thread)
        return
    }
    // The promise that the handler returned is given up too. If it is fulfilled all the same, the error is passed on.
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

/// Cancels the promise that a cancelled follower follows now.
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

/// Settles a cancelled reaction, whose own code is through, with a value (consumed) or with its error.
func concludeCancelled(_ reaction: RecordPointer, _ value: vow_value?, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.handlersDone)
    claimCancelled(reaction)
    let error = reaction.takeError()
    settle(reaction, from: .claimed, value ?? error, .given, thread)
    if value != nil { error.release(thread) }
}

/// Settles a claimed promise, which was asked to stop, with a value (consumed) that came all the same: the promise is cancelled
/// no more. A returned promise is asked to stop in turn.
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

/// Ends a cancelled promise whose producer comes with a value (consumed, except for `.notCancelled`). The value is dropped,
/// unless it is kept. The promise is settled here, or by the last hook to return.
@inline(never)
func endCancelled(
    _ promise: RecordPointer, _ value: vow_value, _ hold: Hold, _ thread: ThreadPointer
) -> CancelledEnd {
    // `endTelling` settles a promise that is not cooperative.
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

/// Settles a promise (claimed) when all hooks that were told of its cancellation have returned.
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
    var hasContextToDestroy: Bool {
        pointee.shape.contains(.linkWithExtras) && extras.pointee.destroy != nil
    }

    /// A follower's context lives until the followed promise is through.
    var keepsContext: Bool { hasContextToDestroy }
}

/// Defers the outcome of a claimed follower (one reference consumed) until its context is destroyed, which is foreign code.
func endLater(_ follower: RecordPointer, _ thread: ThreadPointer) {
    follower.beginOut()
    follower.pointee.flags.insert(RecordFlag.follows)
    follower.pointee.state.transitionToFollowing()
    if follower.executorOfContext != nil {
        // The executor's `submit` is foreign code.
        follower.passage.insert(.passes)
        thread.pointee.agenda.handOver.append(follower)
    } else {
        thread.pointee.agenda.skipped.append(follower)
    }
}

/// Ends a reaction that follows, at the place where its context is destroyed; the followed promise is through.
func endFollowing(_ follower: RecordPointer, _ thread: ThreadPointer) {
    let executor = follower.executorOfContext
    destroyContext(of: follower, reading: nil, thread)
    asOneStep(thread) { takeOutcomeAtLast(follower, thread) }
    executor?.release(thread)
}

/// Settles a withdrawn reaction without a context.
func endWithdrawn(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    claimCancelled(reaction)
    settle(reaction, from: .claimed, reaction.takeError(), .given, thread)
}
