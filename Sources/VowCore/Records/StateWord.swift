// The one atomic word of a promise: its phase, a short lock, and the head of its handler queue.
//
//   bits 0-2   phase
//   bit  3     locked: somebody reads or relinks the queue or the slot; everybody else waits
//   bits 4-63  the newest member of the handler queue (addresses are multiples of 16)
//
//   phase        slot of the record holds       who may write the slot          queue
//   0 open       next + upstream of a link;     the queue it stands in;         grows
//                else the hooks of its producer who has the lock
//   1 running    nothing                        who has the lock                grows
//   2 claimed    as before, then the value      the claimer                     grows
//   3 following  next + the promise followed    the queue it stands in, locked  grows
//   4 cancelled  as open, or running; perhaps   who has the lock                grows
//                the error to settle with
//   5 settling   the value                      nobody                          grows; the drainer takes
//   6 delivering the value                      nobody                          inline reactions only
//   7 settled    the value                      nobody                          empty
//
// Cancelled is a phase of what does not settle at once: a reaction, open or running, and a promise whose producer is
// to end its work first. It comes to be rejected, by whoever would have settled it.
//
// The word is the barrier: whoever registers before the step to settling is in the queue that this step
// takes; whoever comes while settling or delivering stands behind them; whoever comes later sees the
// value. docs/state-machine.md draws the steps from phase to phase; docs/threads.md gives the argument.

enum Phase: UInt8 {
    case open, running, claimed, following, cancelled, settling, delivering, settled

    @inline(__always)
    var bits: UInt64 { UInt64(rawValue) }
}

/// One reading of the word.
struct StateWord {
    var bits: UInt64

    static let phaseMask: UInt64 = 0b0111
    static let lockBit: UInt64 = 0b1000
    static let queueMask: UInt64 = ~0b1111

    @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    @inline(__always)
    init(_ phase: Phase, _ head: RecordPointer?) {
        bits = phase.bits | UInt64(UInt(bitPattern: head))
    }

    @inline(__always)
    var phase: Phase {
        #if VOW_CHECKED
            if Phase(rawValue: UInt8(bits & StateWord.phaseMask)) == nil {
                fatal("the state word holds no phase")
            }
        #endif
        // The enumeration's numbers are its representation; to ask for the case of a number would be a jump
        // through a table, in every step of the core.
        return unsafeBitCast(UInt8(truncatingIfNeeded: bits & StateWord.phaseMask), to: Phase.self)
    }

    @inline(__always)
    var isLocked: Bool { bits & StateWord.lockBit != 0 }

    @inline(__always)
    var head: RecordPointer? {
        RecordPointer(bitPattern: UInt(bits & StateWord.queueMask))
    }

    /// Nobody has decided about it: it is open, or cancelled and its producer not through.
    var isToBeSettled: Bool { phase == .open || phase == .cancelled }

    /// Whether the value can be read.
    @inline(__always)
    var hasValue: Bool { bits & StateWord.phaseMask >= Phase.settling.bits }
}

/// The phases in which a queue accepts a member, or in which a step may begin.
struct PhaseSet {
    private let bits: UInt64

    private init(bits: UInt64) { self.bits = bits }

    /// A reaction waits until it can be handed to its executor in order.
    static let ofReactions = PhaseSet(bits: 0b0011_1111)
    /// An inline one also waits for the inline ones before it.
    static let ofInlineReactions = PhaseSet(bits: 0b0111_1111)
    /// One that follows stands in the queue of a promise that follows nobody itself.
    static let ofFollowers = PhaseSet(bits: 0b0001_0111)
    /// A thread waits only where there is no value yet.
    static let ofWaiters = PhaseSet(bits: 0b0001_1111)

    static let ofOpen = PhaseSet(bits: 0b0000_0001)
    static let ofClaimed = PhaseSet(bits: 0b0000_0100)
    static let ofSettling = PhaseSet(bits: 0b0010_0000)
    static let ofDelivering = PhaseSet(bits: 0b0100_0000)
    static let ofSettled = PhaseSet(bits: 0b1000_0000)
    /// Of what its owner closes, whose value is there or is not needed.
    static let ofClosing = PhaseSet(bits: 0b0100_0101)

    @inline(__always)
    func contains(_ word: StateWord) -> Bool {
        bits & (1 << (word.bits & StateWord.phaseMask)) != 0
    }
}
