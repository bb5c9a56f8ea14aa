// Who keeps what alive: references to promises and values.
//
// A count that says "one reference, and it is mine" cannot change under the owner, so the last release
// needs no read-modify-write. The acquire in that load pairs with the release half of every other
// thread's decrement: what they did to the object happened before it is freed.

import CVow

let oneProducer: UInt64 = 1 << 32

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Relaxed: the caller has a reference already.
    @inline(__always)
    func retain() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(1) }
    }

    @inline(__always)
    func release(_ thread: ThreadPointer) {
        // A promise that is still to be settled may lose its last reader by this.
        if pointee.state.read().hasValue {
            giveBack(1, thread)
        } else {
            releasePending(self, thread)
        }
    }

    @inline(__always)
    func retainProducer() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(oneProducer) }
    }

    /// For producers that have settled the promise, or are handing it on; see `releaseResolver` for the
    /// others.
    @inline(__always)
    func releaseProducer(_ thread: ThreadPointer) { giveBack(oneProducer, thread) }

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
            giveBack(oneProducer, thread)
        } else {
            releaseResolverOfPending(thread)
        }
    }

    @inline(never)
    private func releaseResolverOfPending(_ thread: ThreadPointer) {
        if pointee.shape.contains(.immortal) { return }
        while true {
            let counts = pointee.counts.loadAcquire()
            let isLast = counts >> 32 == 1
            let isWatched = counts & 0xffff_ffff != 0
            if isLast && isWatched {
                // No other producer is left, and none can come: whoever finds it settled knows that nobody resolved it.
                pointee.flags.insert(RecordFlag.dropped)
                if settle(self, whileIn: .open, ownErrors.broken, ownsProducer: true, thread) {
                    return
                }
                if endCancelled(self, vow_none(), ownsProducer: true, thread) { return }
            }
            let (exchanged, _) = pointee.counts.replaceAcquireRelease(counts, counts &- oneProducer)
            if exchanged {
                if counts == oneProducer { reclaim(self, thread) }
                return
            }
        }
    }

    /// Whether the caller's reference is the only one, of any kind.
    @inline(__always)
    var isOnlyMine: Bool { pointee.counts.loadAcquire() == 1 }
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
