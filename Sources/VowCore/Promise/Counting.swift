// Who keeps what alive: references to promises and values.
//
// A count that says "one reference, and it is mine" cannot change under the owner, so the last release
// needs no read-modify-write. The acquire in that load pairs with the release half of every other
// thread's decrement: what they did to the object happened before it is freed.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Relaxed: the caller has a reference already.
    @inline(__always)
    func retain() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneReader) }
    }

    @inline(__always)
    func release(_ thread: ThreadPointer) {
        // A promise that is still to be settled may lose its last reader by this.
        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }
    }

    @inline(__always)
    func retainProducer() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneProducer) }
    }

    /// For producers that have settled the promise, or are handing it on; see `releaseResolver` for the
    /// others.
    @inline(__always)
    func releaseProducer(_ thread: ThreadPointer) { giveBack(Counts.oneProducer, thread) }

    /// Several references at once, of a promise with a value or those of its producer.
    @inline(__always)
    func giveBack(_ units: UInt64, _ thread: ThreadPointer) {
        if pointee.shape.contains(.immortal) { return }
        if pointee.counts.loadAcquire() != units {
            if pointee.counts.subtractAcquireRelease(units) != units { return }
        }
        reclaim(self, thread)
    }

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
            if counts.producers == 1 && counts.readers != 0 {
                // No other producer is left, and none can come: whoever finds it settled knows that nobody resolved it.
                pointee.flags.insert(RecordFlag.dropped)
                if settle(self, whileIn: .open, ownErrors.broken, ownsProducer: true, thread) {
                    return
                }
                if endCancelled(self, vow_none(), ownsProducer: true, thread) { return }
            }
            let rest = counts.bits &- Counts.oneProducer
            if pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
                if rest == 0 { reclaim(self, thread) }
                return
            }
        }
    }

    /// Whether the caller's reference, a reader's, is the only one of any kind.
    @inline(__always)
    var isOnlyMine: Bool { pointee.counts.loadAcquire() == Counts.oneReader }

    @inline(__always)
    var nowCounts: Counts { Counts(bits: pointee.counts.loadAcquire()) }
}

// MARK: Visits

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Keeps the record, and makes nobody believe that it is read. Relaxed: the caller has a reference already, or the lock
    /// of somebody who has.
    func visit() { retainOneOfMany(Counts.oneVisitor) }

    func endVisit(_ thread: ThreadPointer) { giveBack(Counts.oneVisitor, thread) }

    /// A visitor becomes a reader. False, and it stays a visitor, where no reader is left: somebody has been told so.
    func stay() -> Bool {
        exchangeReference(by: Counts.oneReader &- Counts.oneVisitor, unlessReadersAre: 0)
    }

    /// A reader becomes a visitor, unless it is the last reader: of several who are about to leave one is.
    func leaveUnlessLast() -> Bool {
        exchangeReference(by: Counts.oneVisitor &- Counts.oneReader, unlessReadersAre: 1)
    }

    @inline(__always)
    private func exchangeReference(by difference: UInt64, unlessReadersAre few: UInt64) -> Bool {
        if pointee.shape.contains(.immortal) { return true }
        var counts = nowCounts
        while counts.readers != few {
            let (isDone, found) = pointee.counts.replaceAcquireRelease(
                counts.bits, counts.bits &+ difference)
            if isDone { return true }
            counts = Counts(bits: found)
        }
        return false
    }

    /// Of a promise that has a value by now: who has left reads it after all.
    func comeBack() {
        if pointee.shape.contains(.immortal) { return }
        _ = pointee.counts.addRelaxed(Counts.oneReader &- Counts.oneVisitor)
    }

    /// One more reference of a kind of which nothing bounds how many there are: a program's handles, visits.
    @inline(__always)
    func retainOneOfMany(_ unit: UInt64) {
        if pointee.shape.contains(.immortal) { return }
        if Counts(bits: pointee.counts.addRelaxed(unit)).isHalfFull { tooMany() }
    }
}

@inline(never)
private func tooMany() {
    fatal("a promise has more handles than can be counted: they are taken and not given back")
}

extension vow_value {
    /// One more reference; returns the value. Relaxed: the caller has one already.
    @inline(__always)
    @discardableResult
    func retained() -> vow_value {
        if kind >= VOW_STRING { retainSlowly() }
        return self
    }

    private func retainSlowly() {
        if let box {
            if !box.pointee.isImmortal { _ = box.pointee.count.addRelaxed(1) }
        } else if let promise {
            promise.retain()
        }
    }

    @inline(__always)
    func release(_ thread: ThreadPointer) {
        if kind >= VOW_STRING { releaseSlowly(thread) }
    }

    private func releaseSlowly(_ thread: ThreadPointer) {
        if let box {
            box.release(thread)
        } else if let promise {
            promise.release(thread)
        }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    func release(_ thread: ThreadPointer) {
        if pointee.isImmortal { return }
        if pointee.count.loadAcquire() != 1 {
            if pointee.count.subtractAcquireRelease(1) != 1 { return }
        }
        reclaim(self, thread)
    }
}
