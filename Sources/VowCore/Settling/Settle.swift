// Settling: a promise gets its value, its queue is taken, and the members of the queue go on.
//
// `publish` is the one function that settles a promise which other threads may look at. Its caller has the right to decide:
// the promise is in a phase that the lock can be taken in. `publish` calls no foreign code; what has to happen afterwards
// comes back as `Owed`, so that a caller begins a step only for what needs one. The usual link of a chain has no member in
// its queue, or one inline reaction, and owes nothing.
//
// Ownership. The caller has a producer's reference, or keeps the promise otherwise until `publish` returns (`Hold.lent`); or
// the reference goes with the value (`Hold.given`): to the member that keeps the promise, to the hand-over, or, where there
// is neither, back to the caller (`Owed.reference`).
//
// Orderings. `lock(whileIn:)` acquires the members' fields, which `enlist` has released. `unlock` releases the value, which
// each `read` acquires. `markOut` releases the member's slot, which a canceller acquires with `isOut`.

import CVow

/// Whose the producer's reference is that a promise is settled with.
enum Hold {
    /// The caller's: nothing is consumed.
    case lent
    /// The promise's: it is consumed.
    case given
}

/// What a promise that has been published leaves to do; `pay` does it.
enum Owed {
    case nothing
    /// No member waited: a given reference is to be given back.
    case reference
    /// One follower or observer is to be notified in a step; then a given reference is to be given back.
    case outcome(RecordPointer)
    /// One plain link has no handler for the outcome: it gets the same one in a step, and a given reference with it.
    case passing(RecordPointer)
    /// Members (the newest) are to be handed over in a step. A reference to the promise is theirs.
    case members(RecordPointer)
}

/// Settles a promise, which the caller has locked, with a value (consumed). Its hooks are the caller's to dismiss, and its
/// token's list to leave.
@inline(__always)
func publish(
    _ promise: RecordPointer, lockedAs word: StateWord, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) -> Owed {
    writeOutcome(value, of: promise, thread)
    if let newest = word.head {
        if newest.isClearlyLast && newest.isRunInline(on: value) {
            // The member keeps the promise, and no list of members has to be handed over.
            newest.markOut()
            newest.passage = hold == .given ? .ofDelivery : .countedInline
            promise.inlineLeft = 1
            promise.pointee.state.unlock(.delivering, nil)
            thread.pointee.agenda.ready.append(newest)
            return .nothing
        }
        return publishToMembers(promise, newest, value.isError, hold, thread)
    }
    promise.pointee.state.unlock(.settled, nil)
    return .reference
}

/// The promise, locked and with its value, has a member that is not run inline, or several members.
@inline(never)
private func publishToMembers(
    _ promise: RecordPointer, _ newest: RecordPointer, _ isRejected: Bool, _ hold: Hold,
    _ thread: ThreadPointer
) -> Owed {
    if newest.isClearlyLast {
        if newest.takesOutcome {
            promise.pointee.state.unlock(.settled, nil)
            return .outcome(newest)
        }
        if newest.isPlainLink && !newest.handles(rejected: isRejected)
            && !newest.pointee.flags.contains(RecordFlag.follows)
        {
            newest.markOut()
            promise.pointee.state.unlock(.settled, nil)
            return .passing(newest)
        }
        if newest.isRun(rejected: isRejected), let queue = ownQueue(for: newest, thread) {
            newest.markOut()
            if hold == .given { newest.passage.insert(.holdsProducer) }
            queue.pointee.append(newest)
            promise.pointee.state.unlock(.settled, nil)
            return .nothing
        }
    }
    // A thread that waits may give a lent reference back as soon as it is woken.
    if hold == .lent { promise.retainProducer() }
    promise.pointee.state.unlock(.settling, nil)
    return .members(newest)
}

/// Does in a step what a published promise has left to do.
@inline(never)
func pay(_ owed: Owed, of promise: RecordPointer, _ hold: Hold, _ thread: ThreadPointer) {
    asOneStep(thread) {
        switch owed {
        case .nothing, .reference: break
        case .outcome(let member): thread.pointee.agenda.outcomes.append(member)
        case .passing(let link): passDown(from: link, hold, thread)
        case .members(let newest): enqueueBatch(of: promise, newest, thread)
        }
    }
    switch owed {
    case .nothing, .passing, .members: break
    case .reference, .outcome: if hold == .given { promise.releaseProducer(thread) }
    }
}

/// A link (out of its queue) that has no handler for the outcome of what it reads gets the same outcome; so do the links behind
/// it, as far as each is alone in its queue. A loop, in a step, in place of a way through the agenda for each link.
private func passDown(from first: RecordPointer, _ hold: Hold, _ thread: ThreadPointer) {
    var delivery = hold == .given ? Passage.holdsProducer : Passage()
    var link = first
    while true {
        let word = link.pointee.state.lock()
        let read = link.isInline ? link.source : link.upstream
        guard link.isToPass(word), let promise = read,
            word.phase == .open || promise.value.isError
        else {
            // Another thread cancels it at this moment, or it reads an error of its own: the long way.
            link.pointee.state.unlock(word.phase, word.head)
            link.passage.formUnion(delivery.union(.passes))
            thread.pointee.agenda.handOver.append(link)
            return
        }
        let executor = link.executor
        let owed = publish(link, lockedAs: word, promise.value.retained(), .given, thread)
        count(thread.cell.pointee.counters.handlersDone)
        promise.giveBack(delivery.references, thread)
        executor?.release(thread)
        switch owed {
        case .passing(let next): (delivery, link) = (.holdsProducer, next)
        case .reference: return link.releaseProducer(thread)
        default: return pay(owed, of: link, .given, thread)
        }
    }
}

/// Settles a promise, which is in that phase, with a value (consumed). False, and nothing is consumed, when another thread has
/// decided about the promise.
@inline(__always)
func settleHere(
    _ promise: RecordPointer, from phase: Phase, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) -> Bool {
    guard let word = promise.pointee.state.lock(whileIn: phase) else { return false }
    if phase == .open && !promise.pointee.shape.isReaction, let hooks = promise.hooks {
        settleWithHooks(promise, word, hooks, value, hold, thread)
        return true
    }
    switch publish(promise, lockedAs: word, value, hold, thread) {
    case .nothing: promise.leaveTokenIfAny(thread)
    case .reference:
        promise.leaveTokenIfAny(thread)
        if hold == .given { promise.releaseProducer(thread) }
    case let owed:
        promise.leaveTokenIfAny(thread)
        pay(owed, of: promise, hold, thread)
    }
    return true
}

/// The same as a call.
@inline(never)
@discardableResult
func settle(
    _ promise: RecordPointer, from phase: Phase, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) -> Bool {
    settleHere(promise, from: phase, value, hold, thread)
}

/// A promise with hooks (locked) keeps them until they know that they have been taken.
@inline(never)
private func settleWithHooks(
    _ promise: RecordPointer, _ word: StateWord, _ hooks: HookPointer, _ value: vow_value,
    _ hold: Hold, _ thread: ThreadPointer
) {
    promise.retainProducer()
    settle(promise, lockedAs: word, value, hold, thread)
    dismissTaken(hooks, of: promise, thread)
}

/// The same for a promise that the caller has locked.
@inline(never)
func settle(
    _ promise: RecordPointer, lockedAs word: StateWord, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) {
    let owed = publish(promise, lockedAs: word, value, hold, thread)
    promise.leaveTokenIfAny(thread)
    pay(owed, of: promise, hold, thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// No thread can read the reaction, nor cancel it, nor come to do so: the thread that is about to run it has it alone.
    @inline(__always)
    var isUnseen: Bool {
        nowCounts.isOneProducers() && !pointee.shape.isTravelling
    }

    /// A reaction that is no `finally`, and has no context to destroy, no token and no context of the program's.
    @inline(__always)
    var isPlainLink: Bool {
        let shape = pointee.shape
        return shape.isReaction && !shape.isTravelling && !shape.contains(.finally)
            && !hasContextToDestroy
    }

    /// A locked link is open, or cancelled with nothing but what comes down to read.
    fileprivate func isToPass(_ word: StateWord) -> Bool {
        word.phase == .open || word.phase == .cancelled && inlineLeft == 0
    }

    /// A settled reaction is not cancelled by its token any more. The thread that settles it keeps it meanwhile.
    @inline(__always)
    fileprivate func leaveTokenIfAny(_ thread: ThreadPointer) {
        if pointee.shape.isTravelling { leaveToken(self, thread) }
    }

    /// The member of a queue has a handler for the outcome, which this thread runs.
    @inline(__always)
    fileprivate func isRunInline(on value: vow_value) -> Bool {
        // A thread that waits has no flags set.
        pointee.flags.snapshot & (RecordFlag.isInline | RecordFlag.follows) == RecordFlag.isInline
            && handles(rejected: value.isError)
    }

    /// The member of a queue has a handler for the outcome, which an executor runs.
    @inline(__always)
    fileprivate func isRun(rejected isRejected: Bool) -> Bool {
        pointee.shape.isReaction && !pointee.flags.contains(RecordFlag.follows)
            && handles(rejected: isRejected)
    }

    /// The member of a queue is notified of the outcome by the thread that settles, before any foreign code. It has
    /// a reference to its promise.
    @inline(__always)
    var takesOutcome: Bool {
        let shape = pointee.shape
        return !shape.isWaiter
            && (!shape.isReaction || pointee.flags.contains(RecordFlag.follows))
    }
}

// MARK: Resolving: the kind of the value decides what becomes of a promise

/// Resolves an open or running promise with a value (consumed). False, and nothing is consumed, when
/// somebody else has decided about it. For `hold` see `Hold`.
@inline(__always)
func resolve(
    _ promise: RecordPointer, whileIn phase: Phase, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) -> Bool {
    if isWatched { noteResolved(promise, value) }
    if value.kind == VOW_PROMISE || value.kind == VOW_OBJECT {
        let isThenable = value.isThenable
        if isThenable || value.promise != nil {
            guard promise.pointee.state.transitionToClaimed(from: phase) else { return false }
            follow(value, by: promise, hold, thread)
            return true
        }
    }
    return settleHere(promise, from: phase, value, hold, thread)
}

/// A promise with hooks keeps them until they know that they have been taken.
@inline(__always)
private func follow(
    _ value: vow_value, by promise: RecordPointer, _ hold: Hold, _ thread: ThreadPointer
) {
    let hooks = promise.pointee.shape.isReaction ? nil : promise.hooks
    if hooks != nil { promise.retainProducer() }
    if let followed = value.promise {
        follow(followed, by: promise, hold, thread)
    } else {
        followThenable(value, by: promise, hold, thread)
    }
    if let hooks { dismissTaken(hooks, of: promise, thread) }
}

/// A promise (owned) of a value (consumed).
func makePromise(of value: vow_value, _ thread: ThreadPointer) -> RecordPointer {
    if let promise = value.promise {
        promise.noteHandle()
        return promise
    }
    let isThenable = value.isThenable
    let phase: Phase = isThenable ? .claimed : .settled
    let producers: UInt64 = isThenable ? 1 : 0
    guard let promise = makePromise(phase, producers: producers, thread) else {
        value.release(thread)
        return promiseWithoutMemory
    }
    if isThenable {
        followThenable(value, by: promise, .given, thread)
    } else {
        writeOutcome(value, of: promise, thread)
    }
    return promise
}

/// What `vow_reject` makes of a value (consumed): an error as it is, another value as a payload.
func errorForRejection(_ value: vow_value, _ thread: ThreadPointer) -> vow_value {
    if value.isError { return value }
    var message: (CChar, CChar, CChar, CChar, CChar, CChar, CChar) = (
        0x72, 0x65, 0x61, 0x73, 0x6f, 0x6e, 0
    )
    let error = withUnsafePointer(to: &message) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 7) {
            makeOwnError(VOW_EREASON, $0, payload: value)
        }
    }
    guard let error else {
        value.release(thread)
        return ownErrors.noMemory
    }
    return error
}
