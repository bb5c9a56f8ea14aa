// Giving a resolver back: the last one breaks a promise that nobody has resolved.

import CVow

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
