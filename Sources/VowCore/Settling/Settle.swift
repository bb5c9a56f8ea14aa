// Settling: a promise gets its value, its queue is taken, and the members of the queue go on.
//
// `publish` is the one function that settles a promise which other threads may reach. Its caller has locked the promise, so the
// right to decide is the caller's. `publish` calls no foreign code and returns the rest of the work as `Owed`, so that a caller
// begins a step only for what needs one. A usual link has no member, or one inline reaction, and owes nothing.
//
// *One member.* A promise whose queue has one member goes from locked straight to the phase after the hand-over. For an inline
// reader this is delivering, with one inline reaction left. A reader of a serial executor or loop whose work this thread is
// doing is appended to the thread's own batch before the step to settled; a later registration enters the intake behind it, or
// this batch. A follower or observer is notified before any foreign code runs. A link without a handler for the outcome is
// passed. A reader of another executor and a waiting thread go the long way. The member's reference keeps the promise; the
// settler's goes with a reaction (`holdsProducer`) and is given back with the member's.
//
// *Ownership.* The caller keeps the promise until `publish` returns (`Hold.lent`), or its producer's reference goes with the
// value (`Hold.given`): to the member, to the hand-over, or, without members, back to the caller (`Owed.reference`).
// *Orderings.* `lock(whileIn:)` acquires the members' fields, which `enlist` released. `unlock` releases the value, which
// `read` acquires. `markOut` releases the member's slot, which a canceller acquires with `isOut`.

import CVow

/// The owner of the producer's reference with which a promise is settled.
enum Hold {
    /// The caller: the reference is not consumed.
    case lent
    /// The promise: the reference is consumed.
    case given
}

/// The work that a published promise leaves; `pay` does it.
enum Owed {
    case nothing
    /// No member waited: a given reference is to be given back.
    case reference
    /// One follower or observer is to be notified in a step; then a given reference is to be given back.
    case outcome(RecordPointer)
    /// One plain link has no handler for the outcome: in a step it gets the same outcome, and a given reference.
    case passing(RecordPointer)
    /// Members (the newest) are to be handed over in a step, with a reference to the promise.
    case members(RecordPointer)
}

/// Settles a promise (locked) with a value (consumed). The caller dismisses the hooks and leaves the token.
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

/// The locked promise has its value and a member that does not run inline, or several members.
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
    // A woken thread may give back the resolver whose reference was lent.
    if hold == .lent { promise.retainProducer() }
    promise.pointee.state.unlock(.settling, nil)
    return .members(newest)
}

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

/// Gives a link (out of its queue) the outcome of its promise, and the links behind it, as long as each is alone in its queue
/// and has no handler for the outcome. A loop in a step, instead of a pass through the agenda for each link.
private func passDown(from first: RecordPointer, _ hold: Hold, _ thread: ThreadPointer) {
    var delivery = hold == .given ? Passage.holdsProducer : Passage()
    var link = first
    while true {
        let word = link.pointee.state.lock()
        let read = link.isInline ? link.source : link.upstream
        guard link.isToPass(word), let promise = read,
            word.phase == .open || promise.value.isError
        else {
            // Another thread is cancelling the link, or the link reads an error of its own: the hand-over passes it.
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

/// Settles a promise in `phase` with a value (consumed). Returns false and consumes nothing if another thread has decided.
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

@inline(never)
@discardableResult
func settle(
    _ promise: RecordPointer, from phase: Phase, _ value: vow_value, _ hold: Hold,
    _ thread: ThreadPointer
) -> Bool {
    settleHere(promise, from: phase, value, hold, thread)
}

/// Settles a promise (locked) and keeps it until its hooks have been told that they were taken.
@inline(never)
private func settleWithHooks(
    _ promise: RecordPointer, _ word: StateWord, _ hooks: HookPointer, _ value: vow_value,
    _ hold: Hold, _ thread: ThreadPointer
) {
    promise.retainProducer()
    settle(promise, lockedAs: word, value, hold, thread)
    dismissTaken(hooks, of: promise, thread)
}

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
    /// The caller, about to run the reaction, alone has it: no thread can read or cancel the reaction, or come to do so.
    @inline(__always)
    var isUnseen: Bool {
        nowCounts.isOneProducers() && !pointee.shape.isTravelling
    }

    /// A reaction without a context to destroy, a token or a travelling context; not a `finally`.
    @inline(__always)
    var isPlainLink: Bool {
        let shape = pointee.shape
        return shape.isReaction && !shape.isTravelling && !shape.contains(.finally)
            && !hasContextToDestroy
    }

    /// The link (locked) is open, or it is cancelled and reads nothing but the rejection that comes down.
    fileprivate func isToPass(_ word: StateWord) -> Bool {
        word.phase == .open || word.phase == .cancelled && inlineLeft == 0
    }

    /// A settled reaction is not cancelled by its token any more. The settling thread keeps it meanwhile.
    @inline(__always)
    fileprivate func leaveTokenIfAny(_ thread: ThreadPointer) {
        if pointee.shape.isTravelling { leaveToken(self, thread) }
    }

    /// The member has a handler for the outcome, which this thread runs. A waiting thread has no flags.
    @inline(__always)
    fileprivate func isRunInline(on value: vow_value) -> Bool {
        pointee.flags.snapshot & (RecordFlag.isInline | RecordFlag.follows) == RecordFlag.isInline
            && handles(rejected: value.isError)
    }

    /// The member has a handler for the outcome, which an executor runs.
    @inline(__always)
    fileprivate func isRun(rejected isRejected: Bool) -> Bool {
        pointee.shape.isReaction && !pointee.flags.contains(RecordFlag.follows)
            && handles(rejected: isRejected)
    }

    /// The settling thread notifies the member before any foreign code. The member has a reference to its promise.
    @inline(__always)
    var takesOutcome: Bool {
        let shape = pointee.shape
        return !shape.isWaiter
            && (!shape.isReaction || pointee.flags.contains(RecordFlag.follows))
    }
}

// MARK: Resolving: the kind of the value decides

/// Resolves an open or running promise with a value (consumed). False: another thread has decided, and nothing is consumed.
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

/// Keeps a promise with hooks until they have been told that they were taken.
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

/// Makes a promise (owned) of a value (consumed).
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

/// Makes the error of `vow_reject` from a value (consumed): an error as it is, another value as a payload.
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
