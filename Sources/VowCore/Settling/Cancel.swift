// Cancelling: an input, not an outcome. A cancelled promise is never fulfilled any more; a reaction reads VOW_ECANCELLED in
// place of its promise's outcome, and that decides as always which handler runs.
//
// Cancelling goes up first, through promises without another reader; then the rejection comes down. So no promise settles while
// its own code runs or is to run. A thread whose call sets `RecordFlag.cancelled`, under the lock or as the claimer, is the one
// whose `vow_cancel` returns true; the promise was open, running or following then. `cancelOne` decides:
//
// * An open promise with a producer is in no queue, so it is rejected under its own lock: every other way to decide needs that
//   lock, as do its hooks. With hooks, or cooperative, it gets the error to come and the phase cancelled. A cooperative one is
//   ended by its producer (`endCancelled`). Each returned hook takes one off `hooksLeft` (`endTelling`); the last one settles a
//   promise that is not cooperative, or whose producer has ended meanwhile (`isDoneMeanwhile`).
// * A running reaction gets the error to come, and the phase cancelled. The handler's thread finds the phase changed
//   (`discard`), gives up the handler's result and rejects the reaction.
// * An open reaction that is the last reader of a pending promise stays in its queue: the lock of its word suffices, and the
//   slot is not touched. The promise is cancelled next. A shield stays too, and its promise is left alone.
// * A follower that is the last reader stays, still following. The thread that takes its outcome rejects it.
// * Any other reaction or follower leaves: see CancelReaction.swift.
//
// `ask` is the weaker form, for the promise that a `vow_using` acquires: it cancels, but drops no value.

import CVow

/// Cancels a pending promise (borrowed) with an error (borrowed). Returns true for the first such call.
func cancel(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) -> Bool {
    var isFirst = false
    asOneStep(thread) { isFirst = cancelUpwards(from: promise, error, thread) }
    return isFirst
}

/// Cancels a reaction or a produced promise by its token, and leaves alone what it reads.
func cancelAlone(_ reaction: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    asOneStep(thread) {
        var next: RecordPointer?
        _ = cancelOne(
            reaction, reaction.pointee.state.lock(), error, leavesUpstream: true, upstream: &next,
            thread)
        // The promise that its handler returned is its own work.
        cancelFurther(from: next, error, thread)
    }
}

/// Gives up a promise (consumed): it is cancelled, unless it has another reader.
@inline(never)
func cancelUnlessRead(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    if promise.leaveUnlessLast() {
        promise.endVisit(thread)
    } else {
        asOneStep(thread) {
            _ = cancelUpwards(from: promise, error, thread)
            // No reader is left to see an end that comes later.
            promise.release(thread)
        }
    }
}

/// Cancels a promise (which the caller keeps) and those above it, as far as no other reader is there. A loop, not a recursion.
///
/// Links with nothing to run or destroy are marked on the way up, hand over hand, without visits: a locked link keeps the
/// promise that it reads, and a marked one keeps it while that promise is locked and pending. Two locks are those of an open
/// link and of the older promise that it reads, so locks have an order. The rejection comes down by `passDown`.
@inline(never)
func cancelUpwards(
    from promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer
) -> Bool {
    var current = promise
    var word = current.pointee.state.lock()
    if !isWatched {
        while word.phase == .open && current.isPlainLink && !current.handles(rejected: true),
            let read = current.upstream,
            !read.pointee.state.read().hasValue, read.nowCounts.readers == 1
        {
            let above = read.pointee.state.lock()
            if above.hasValue {
                // The promise was settled before the lock, and the link may be on its way already.
                read.pointee.state.unlock(above.phase, above.head)
                break
            }
            current.pointee.state.unlock(.cancelled, word.head)
            (current, word) = (read, above)
        }
    }
    if word.phase == .open && current.pointee.shape == Shape() && current.hooks == nil {
        // No hook or producer is to be notified: the promise is rejected, and not touched afterwards.
        current.pointee.flags.insert(RecordFlag.cancelled)
        if isWatched { noteCancelled(current) }
        settle(current, lockedAs: word, error.retained(), .lent, thread)
        return true
    }
    let isAbove = current != promise
    if isAbove { current.visit() }
    var next: RecordPointer?
    let isFirst = cancelOne(current, word, error, upstream: &next, thread)
    if isAbove { current.endVisit(thread) }
    cancelFurther(from: next, error, thread)
    return isFirst || isAbove
}

/// Goes on with a promise (a visit, consumed), or ends at nil.
func cancelFurther(
    from promise: RecordPointer?, _ error: vow_value, _ thread: ThreadPointer
) {
    var next = promise
    while let current = next {
        next = nil
        _ = cancelOne(current, current.pointee.state.lock(), error, upstream: &next, thread)
        current.endVisit(thread)
    }
}

/// Cancels one promise, which the caller has locked.
/// - Parameters:
///   - upstream: the promise it waits for, as a visit, if that is to be cancelled next.
///   - keepsValue: a value that comes all the same is its outcome: see `ask`.
@inline(never)
func cancelOne(
    _ promise: RecordPointer, _ locked: StateWord, _ error: vow_value, leavesUpstream: Bool = false,
    keepsValue: Bool = false, upstream: inout RecordPointer?, _ thread: ThreadPointer
) -> Bool {
    if isWatched && !locked.hasValue { noteCancelled(promise) }
    var pause = Backoff()
    var word = locked
    while true {
        switch word.phase {
        case .open where promise.pointee.shape.isReaction:
            if promise.pointee.shape.isShield {
                promise.pointee.flags.insert(RecordFlag.cancelled)
                promise.pointee.state.unlock(.cancelled, word.head)
                return true
            }
            var hasLeft = false
            if !leavesUpstream, let read = promise.upstream, !read.pointee.state.read().hasValue {
                hasLeft = read.leaveUnlessLast()
                if !hasLeft {
                    // The reaction gets the rejection that comes down.
                    read.visit()
                    promise.pointee.flags.insert(RecordFlag.cancelled)
                    promise.pointee.state.unlock(.cancelled, word.head)
                    upstream = read
                    return true
                }
            }
            promise.pointee.state.unlock(.claimed, word.head)
            cancelReaction(promise, error, hasLeft: hasLeft, keepsValue: keepsValue, thread)
            return true
        case .open:
            cancelProducer(of: promise, word, error, keepsValue: keepsValue, thread)
            return true
        case .running:
            promise.pointee.flags.insert(RecordFlag.cancelled)
            // Under the lock, so that the fiber does not end its wait meanwhile. A suspended one goes on in a forked child too.
            let step = promise.nudgeOwnFiber()
            if step == nil && isForkedChild && isLeftWithParent(promise) {
                // The handler does not return in this process.
                settle(promise, lockedAs: word, error.retained(), .lent, thread)
                return true
            }
            promise.errorToCome = error.retained()
            if keepsValue { promise.keepValue() }
            promise.pointee.state.unlock(.cancelled, word.head)
            if let step { handOver(step: step, thread) }
            return true
        case .following:
            if promise.pointee.flags.contains(RecordFlag.cancelled) {
                promise.pointee.state.unlock(word.phase, word.head)
                return false
            }
            upstream = cancelFollower(promise, word, error, thread)
            return true
        case .claimed:
            promise.pointee.state.unlock(word.phase, word.head)
            if promise.isLeftInStep { return false }
            pause.wait()
            word = promise.pointee.state.lock()
        case .cancelled, .settling, .delivering, .settled:
            promise.pointee.state.unlock(word.phase, word.head)
            return false
        }
    }
}

/// Rejects an open promise (locked) that has a producer: at once, after its last hook, or, if cooperative, by its producer.
func cancelProducer(
    of promise: RecordPointer, _ word: StateWord, _ error: vow_value, keepsValue: Bool,
    _ thread: ThreadPointer
) {
    let hooks = promise.hooks
    promise.pointee.flags.insert(RecordFlag.cancelled)
    if hooks != nil || promise.pointee.shape.contains(.cooperative) {
        promise.hooks = nil
        promise.errorToCome = error.retained()
        if keepsValue { promise.keepValue() }
        if let hooks {
            promise.visit()
            promise.hooksLeft = countHooks(hooks)
        }
        promise.pointee.state.unlock(.cancelled, word.head)
    } else {
        settle(promise, lockedAs: word, error.retained(), .lent, thread)
    }
    if let hooks {
        noteTaken(hooks)
        dismiss(hooks, .calledOfCancelled, of: promise, thread)
    }
    if promise.pointee.shape.isProduced { promise.producer.pointee.stop(promise, thread) }
}

// MARK: Asking what a `vow_using` acquires to stop
//
// A handler that runs, a cooperative producer and a combinator that calls functions are notified as of a cancellation, but a
// value that they come with is the outcome: a resource that is acquired all the same is to be released. A reaction that may
// pass such a value on, or has a handler for a rejection, is passed by.

/// - Parameter promise: a visit, consumed. Only the asker reads it.
func ask(_ promise: RecordPointer, _ thread: ThreadPointer) {
    asOneStep(thread) {
        var current = promise
        while let next = askOne(current, thread) {
            current.endVisit(thread)
            current = next
        }
        current.endVisit(thread)
    }
}

/// Returns the promise (a visit) that this one waits for, if that is to be asked.
private func askOne(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if let limited = promise.limitedInTime { return unlessOthersRead(limited, thread) }
    let word = promise.pointee.state.lock()
    let shape = promise.pointee.shape
    var upstream: RecordPointer?
    switch word.phase {
    case .following:
        upstream = promise.upstream
    case .open where shape.isReaction && promise.mayRunCancelled:
        // A shield leaves its promise alone.
        upstream = shape.isShield ? nil : promise.upstream
    case .running where shape.contains(.finally):
        break
    default:
        _ = cancelOne(
            promise, word, ownErrors.cancelled, keepsValue: true, upstream: &upstream, thread)
        cancelFurther(from: upstream, ownErrors.cancelled, thread)
        return nil
    }
    upstream?.visit()
    promise.pointee.state.unlock(word.phase, word.head)
    return upstream.flatMap { unlessOthersRead($0, thread) }
}

private func unlessOthersRead(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if promise.nowCounts.readers == 1 && !promise.pointee.state.read().hasValue { return promise }
    promise.endVisit(thread)
    return nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The promise (a visit) that a pending time-out waits for.
    fileprivate var limitedInTime: RecordPointer? {
        guard pointee.shape.isProduced, producer.pointee.kind == .timeout, let owner = observing,
            case .promise(let promise) = owner.pointee.view.observed(owner, 0)
        else { return nil }
        return promise
    }
}
