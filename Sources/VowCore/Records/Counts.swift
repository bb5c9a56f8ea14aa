// The references to a promise: three counts in one word, so that "nobody else" is one look.
//
// A reader can learn of the outcome: a handle, a reaction or a follower. When the last one goes the producer hears that
// nobody wants its work any more. A producer is who may settle it: a resolver's handle, or the queue or executor that holds
// a reaction. A visitor only passes: who walks along a path of promises, or cancels one. It keeps the memory, and says
// nothing about whether anybody is interested: whoever asks that must not be told of one that leaves the next moment.

/// What the counts were at one time.
struct Counts: Equatable {
    let bits: UInt64

    /// One reference of each kind. 268 million readers, 4 million producers and 16 thousand visitors fit, of which a
    /// thread has a few.
    static let oneReader: UInt64 = 1
    static let oneProducer: UInt64 = 1 << 28
    static let oneVisitor: UInt64 = 1 << 50

    var readers: UInt64 { bits & (Counts.oneProducer - 1) }
    var producers: UInt64 { bits >> 28 & (1 << 22 - 1) }
    /// No handle, reaction or follower is left to learn of the outcome. It does not change back.
    var isUnread: Bool { readers == 0 }
    /// Nobody has it but one producer, and the visitors that the caller knows of.
    @inline(__always)
    func isOneProducers(besides visitors: UInt64 = 0) -> Bool {
        bits == Counts.oneProducer | visitors
    }
    /// Besides producers nobody has it but so many readers, and the visitors that the caller knows of.
    func isRead(by readers: Int, besides visitors: UInt64) -> Bool {
        bits & ~(Counts.oneVisitor - Counts.oneProducer)
            == UInt64(readers) * Counts.oneReader + visitors
    }
    /// Handles that are taken for ever, as by a loop that forgets to give them back, come to this long before a count is
    /// full.
    var isHalfFull: Bool { bits & (1 << 27 | 1 << 49 | 1 << 63) != 0 }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Relaxed: the caller has a reference already.
    @inline(__always)
    func retain() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneReader) }
    }

    @inline(__always)
    func retainProducer() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneProducer) }
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
