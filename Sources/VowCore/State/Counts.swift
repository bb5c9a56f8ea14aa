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
    /// All that may look at the promise but its producers.
    var withoutProducers: UInt64 { bits & ~(Counts.oneVisitor - Counts.oneProducer) }
    /// Handles that are taken for ever, as by a loop that forgets to give them back, come to this long before a count is
    /// full.
    var isHalfFull: Bool { bits & (1 << 27 | 1 << 49 | 1 << 63) != 0 }
}
