// Cancelling: an input, not an outcome. A cancelled promise is never fulfilled any more; a reaction reads
// VOW_ECANCELLED in place of what it would have read, and what the reaction reads decides what runs, as always.
//
// What has no other reader upstream is cancelled first, and from there the rejection comes down. So nothing settles while
// its own code runs or is to come. `cancelReaction` has what a reaction or a follower does, CancelReaction.swift how each of
// them ends.
//
// `ask` is the weaker form, for what a `vow_using` acquires: it cancels, but drops no value.

import CVow

/// Cancels a pending promise (borrowed) with an error (borrowed). True when nobody had done so before.
func cancel(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) -> Bool {
    var isFirst = false
    asOneStep(thread) { isFirst = cancelUpwards(from: promise, error, thread) }
    return isFirst
}

/// The same by its token: what it reads is left alone.
func cancelAlone(_ reaction: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    asOneStep(thread) {
        var next: RecordPointer?
        _ = cancelOne(
            reaction, reaction.pointee.state.lock(), error, leavesUpstream: true, upstream: &next,
            thread)
        // What its handler has returned is its own work.
        cancelFurther(from: next, error, thread)
    }
}

/// A promise (consumed) is given up by who was interested in it: it is cancelled, unless somebody else is.
@inline(never)
func cancelUnlessRead(_ promise: RecordPointer, _ error: vow_value, _ thread: ThreadPointer) {
    if promise.leaveUnlessLast() {
        promise.endVisit(thread)
    } else {
        asOneStep(thread) {
            _ = cancelUpwards(from: promise, error, thread)
            // Nobody sees how it ends, if that is to come.
            promise.release(thread)
        }
    }
}

/// From a promise (which the caller keeps) on, as far as nobody else reads. A loop, not a recursion.
///
/// Links with nothing to run or destroy are marked on the way up, hand over hand. A locked link keeps the promise that it
/// reads; a marked one keeps it as long as that promise is locked and pending, because the link waits for what it comes to. So
/// no visit is counted. A thread that holds two locks holds those of an open link and of the older promise that the link
/// reads: so the locks have an order. The rejection of the promise at the top comes down by `passDown`.
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
                // It was settled before the lock, and the link may be on its way already.
                read.pointee.state.unlock(above.phase, above.head)
                break
            }
            current.pointee.state.unlock(.cancelled, word.head)
            (current, word) = (read, above)
        }
    }
    if word.phase == .open && current.pointee.shape == Shape() && current.hooks == nil {
        // Nobody is told: the promise is rejected, and not looked at afterwards.
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

/// From a promise (a visit, consumed) on, if there is one.
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
///   - upstream: what it waits for, as a visit, if that is to be cancelled first.
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
                    // It gets what comes down.
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
            if isForkedChild && isLeftWithParent(promise) {
                // Its handler does not return in this process.
                settle(promise, lockedAs: word, error.retained(), .lent, thread)
                return true
            }
            promise.errorToCome = error.retained()
            if keepsValue { promise.keepValue() }
            promise.pointee.state.unlock(.cancelled, word.head)
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

/// An open promise (locked) that somebody is to settle: it is rejected at once, and will be found settled; but when those
/// who are told of it have returned, and one whose producer ends its work first is left to that.
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
// That is cancelling, but drops no value: what is acquired all the same is to be released.
//
// A handler that runs, a cooperative producer and what calls functions hear of it as of a cancellation; a value with which
// they come is their promise's. What may pass such a value on, and what runs for a rejection, is only passed by.

/// - Parameter promise: a visit, consumed. Nobody but the asker reads it.
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

/// Returns what it waits for (a visit), if that is to be asked.
private func askOne(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if let limited = promise.limitedInTime { return unlessOthersRead(limited, thread) }
    let word = promise.pointee.state.lock()
    let shape = promise.pointee.shape
    var upstream: RecordPointer?
    switch word.phase {
    case .following:
        upstream = promise.upstream
    case .open where shape.isReaction && promise.mayRunCancelled:
        // A shield leaves alone what it waits for.
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
    /// Of a pending time-out: what it waits for, as a visit.
    fileprivate var limitedInTime: RecordPointer? {
        guard pointee.shape.isProduced, producer.pointee.kind == .timeout, let owner = observing,
            case .promise(let promise) = owner.pointee.view.observed(owner, 0)
        else { return nil }
        return promise
    }
}
