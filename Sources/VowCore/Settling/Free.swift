// The end of references to a promise: what still hears when a promise is freed, when its last reader goes, when its last
// resolver goes.
//
// The producer of a pending promise hears when the last reader goes. A reaction goes on all the same: what its handler
// does may be what it is for. Only cancelling stops a reaction. The last resolver that is given back breaks a promise that
// has not been resolved.

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

/// Gives a reference back. True when it was the last reader's of a promise that somebody is still to settle:
/// then the caller has a producer's reference instead, to look at what is left.
private func giveUpReading(
    _ promise: RecordPointer, isPassed: Bool, _ thread: ThreadPointer
) -> Bool {
    while true {
        let counts = promise.nowCounts
        if counts.bits == Counts.oneReader && !isPassed {
            reclaim(promise, thread)
            return false
        }
        // A reaction goes on, and mostly there is nobody to forget. Asked after the count, because another reader may
        // have observed it and left just now.
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

/// Nobody can read the promise any more. Returns what it waited for (owned), if it does not any more.
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
        // Only reactions that are cancelled wait for it, as visitors; who is about to enter sees that there is no reader.
        cancelProducer(of: promise, word, ownErrors.cancelled, keepsValue: false, thread)
        return nil
    case .open where !shape.isReaction:
        // Not once it is decided about: as a member of a ring it is rejected for those who have just gone.
        forgetObservers(of: promise)
        let hooks = promise.hooks
        promise.hooks = nil
        promise.pointee.state.unlock(word.phase, word.head)
        if let hooks {
            // The producer has heard: a rejection is no news to anybody.
            promise.pointee.isObserved.set()
            noteTaken(hooks)
            dismiss(hooks, .calledUnlessResolved, of: promise, thread)
        }
        if shape.isProduced { promise.producer.pointee.stop(promise, thread) }
        return nil
    case .following where promise.keepsContext || promise.hasLeft:
        // What uses the context is waited for, and who is cancelled waits.
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

/// Those who wanted to see the outcome are gone without it, and nobody can come any more. Followers may have gone on
/// past a reaction, and then report in its place.
private func forgetObservers(of promise: RecordPointer) {
    if !promise.pointee.flags.contains(RecordFlag.passed) { promise.pointee.isObserved.clear() }
}

/// A shield that nobody reads keeps its promise wanted, and is to report its rejection, also when it is cancelled. One for each
/// promise does that: another one leaves.
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
    /// Gives a resolver handle back. The last one of a promise that nobody has resolved breaks it.
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
                // Somebody is to hear of it, though it be who was cancelled. No other producer is left, and none can come:
                // whoever finds it settled knows that nobody resolved it.
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
