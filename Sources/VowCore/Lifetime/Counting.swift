// Who keeps what alive: references to promises and values.
//
// A count that says "one reference, and it is mine" cannot change under the owner, so the last release
// needs no read-modify-write. The acquire in that load pairs with the release half of every other
// thread's decrement: what they did to the object happened before it is freed.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    func release(_ thread: ThreadPointer) {
        // A promise that is still to be settled may lose its last reader by this.
        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }
    }

    /// For producers that have settled the promise, or are handing it on; see `releaseResolver` for the
    /// others.
    @inline(__always)
    func releaseProducer(_ thread: ThreadPointer) { giveBack(Counts.oneProducer, thread) }

    func endVisit(_ thread: ThreadPointer) { giveBack(Counts.oneVisitor, thread) }

    /// Several references at once, of a promise with a value or those of its producer.
    @inline(__always)
    func giveBack(_ units: UInt64, _ thread: ThreadPointer) {
        if pointee.shape.contains(.immortal) { return }
        if pointee.counts.loadAcquire() != units {
            if pointee.counts.subtractAcquireRelease(units) != units { return }
        }
        reclaim(self, thread)
    }
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
