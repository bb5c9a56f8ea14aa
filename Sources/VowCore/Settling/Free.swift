// The end of references to a promise: freeing it, the last reader of a pending one, its last resolver.
//
// A thread that gives back the last reader's reference of a pending promise exchanges it, in one step of the count, for a
// producer's, and looks at what is left (`releasePending`). An open promise: its hooks are taken under the lock and called, and
// a library producer's `stop` is called. A follower is claimed and taken out, unless it keeps a context. A reaction goes on,
// because its handler may be wanted for its effect: its last reader becomes a producer only if its observers are to be
// forgotten, or its follower has passed it. A record without any other reference is freed at once.
//
// A thread that adds a hook looks at the readers under that lock, and a thread that begins to follow looks after its step to
// following: so a hook, or a beginning, and the last release never miss each other.

import CVow

@inline(__always)
func freeRecord(_ record: RecordPointer, _ thread: ThreadPointer) {
    let phase = record.pointee.state.read().phase
    if phase == .settled {
        let value = record.value
        if value.isError && !record.pointee.isObserved.isSet && !value.isCancellation {
            reportUnhandled(record, thread)
        }
        value.release(thread)
    } else {
        if phase == .following {
            let error = takeErrorOfLeft(record)
            record.upstream?.giveBack(leftWith: error, thread)
            error?.release(thread)
        }
        if phase == .cancelled { (record.errorToCome ?? record.errorToRead)?.release(thread) }
        count(thread.cell.pointee.counters.promisesFreedPending)
    }
    if record.pointee.flags.contains(RecordFlag.hasListeners) { closeListeners(of: record, thread) }
    if record.pointee.shape.isTravelling {
        record.fiber?.release()
        leaveToken(record, thread)
        record.travel.pointee.registration.source?.releaseToken(thread)
        record.travel.pointee.context.release(thread)
        record.travel.pointee.scope?.releaseProducer(thread)
    }
    freeMemory(of: record, thread)
}

// MARK: The last reader of a pending promise

/// Gives back a reference to a promise that had no value a moment ago.
/// - Parameter isPassed: by a follower that goes on along the same path.
@inline(never)
func releasePending(
    _ promise: RecordPointer, isPassed: Bool = false, _ thread: ThreadPointer
) {
    if promise.pointee.shape.contains(.immortal) { return }
    if !giveUpReading(promise, isPassed: isPassed, thread) { return }
    asOneStep(thread) {
        var next: RecordPointer? = promise
        while let current = next {
            next = loseInterest(in: current, isPassed: isPassed && current == promise, thread)
            current.releaseProducer(thread)
            if let upstream = next, !giveUpReading(upstream, isPassed: false, thread) { next = nil }
        }
    }
}

/// Gives a reader's reference back. True: it was the last one of an unsettled promise, and the caller has a producer's instead.
private func giveUpReading(
    _ promise: RecordPointer, isPassed: Bool, _ thread: ThreadPointer
) -> Bool {
    while true {
        let counts = promise.nowCounts
        if counts.bits == Counts.oneReader && !isPassed {
            reclaim(promise, thread)
            return false
        }
        // A reaction goes on, mostly without observers to forget. Asked after the count, as another reader may have left.
        let isLast =
            counts.readers == 1
            && (!promise.pointee.shape.isReaction || isPassed || promise.pointee.isObserved.isSet
                || promise.pointee.shape.isShield)
        let rest = counts.bits &- Counts.oneReader &+ (isLast ? Counts.oneProducer : 0)
        if promise.pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
            return isLast
        }
    }
}

/// The promise has no reader any more. Returns the promise (owned) that it waited for, if it does not any more.
private func loseInterest(
    in promise: RecordPointer, isPassed: Bool, _ thread: ThreadPointer
) -> RecordPointer? {
    let shape = promise.pointee.shape
    if shape.isReaction && !isPassed {
        forgetObservers(of: promise)
        if shape.isShield { leaveIfNotFirst(promise, thread) }
        return nil
    }
    let word = promise.pointee.state.lock()
    switch word.phase {
    case .open where !shape.isReaction && word.head != nil:
        // Only cancelled reactions wait for it, as visitors. One that is about to enter sees that there is no reader.
        cancelProducer(of: promise, word, ownErrors.cancelled, keepsValue: false, thread)
        return nil
    case .open where !shape.isReaction:
        // Not once it is decided: as a member of a ring it is rejected for the readers that have just gone.
        forgetObservers(of: promise)
        let hooks = promise.hooks
        promise.hooks = nil
        promise.pointee.state.unlock(word.phase, word.head)
        if let hooks {
            // The producer was notified: a rejection is no news.
            promise.pointee.isObserved.set()
            noteTaken(hooks)
            dismiss(hooks, .calledUnlessResolved, of: promise, thread)
        }
        if shape.isProduced { promise.producer.pointee.stop(promise, thread) }
        return nil
    case .following where promise.keepsContext || promise.hasLeft:
        // A promise that uses the context is waited for, and so is one that a cancelled reaction follows.
        promise.pointee.state.unlock(word.phase, word.head)
        return nil
    case .following:
        claimLockedFollower(promise, word)
        promise.pointee.isObserved.set()
        return withdrawFollower(promise, ownErrors.cancelled, thread)
    default:
        promise.pointee.state.unlock(word.phase, word.head)
        return nil
    }
}

/// The readers that wanted to see the outcome are gone. Followers may have passed a reaction, and then report in its place.
private func forgetObservers(of promise: RecordPointer) {
    if !promise.pointee.flags.contains(RecordFlag.passed) { promise.pointee.isObserved.clear() }
}

/// The first shield without a reader keeps its promise wanted and reports its rejection, also when cancelled. Others leave.
private func leaveIfNotFirst(_ shield: RecordPointer, _ thread: ThreadPointer) {
    let word = shield.pointee.state.lock()
    let waits = word.phase == .open || word.phase == .cancelled
    guard waits, word.head == nil, let promise = shield.upstream,
        !promise.pointee.state.read().hasValue,
        !promise.pointee.isObserved.beginStanding(.shield)
    else {
        shield.pointee.state.unlock(word.phase, word.head)
        return
    }
    shield.pointee.state.unlock(.claimed, word.head)
    cancelReaction(shield, ownErrors.cancelled, hasLeft: false, keepsValue: false, thread)
}

// MARK: The last resolver

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Gives a resolver handle back. The last one of an unresolved promise breaks it.
    @inline(__always)
    func releaseResolver(_ thread: ThreadPointer) {
        if pointee.state.read().hasValue {
            giveBack(Counts.oneProducer, thread)
        } else {
            releaseResolverOfPending(thread)
        }
    }

    @inline(never)
    private func releaseResolverOfPending(_ thread: ThreadPointer) {
        if pointee.shape.contains(.immortal) { return }
        while true {
            let counts = nowCounts
            if counts.producers == 1 && (counts.readers != 0 || pointee.state.read().head != nil) {
                // A reader or a cancelled reaction is to be notified. No other producer is left, and none can come: a thread
                // that finds the promise settled and the mark set knows that it was not resolved.
                pointee.flags.insert(RecordFlag.dropped)
                if settle(self, from: .open, ownErrors.broken, .given, thread) {
                    return
                }
                let end = endCancelled(self, ownErrors.broken, .given, thread)
                if end != .notCancelled { return }
            }
            let rest = counts.bits &- Counts.oneProducer
            if pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
                if rest == 0 { reclaim(self, thread) }
                return
            }
        }
    }
}
