// The one atomic word of a promise: its phase, a short lock, and the head of its handler queue.
//
//   bits 0-2   phase
//   bit  3     locked: somebody reads or relinks the queue or the slot; everybody else waits
//   bits 4-63  the newest member of the handler queue (addresses are multiples of 16)
//
//   phase        slot of the record holds       who may write the slot          queue
//   0 open       next + upstream of a link      the queue it stands in          grows
//   1 claimed    the same, then the value       the claimer                     grows
//   2 following  next + the promise followed    the queue it stands in, locked  grows
//   3 settling   the value                      nobody                          grows; the drainer takes
//   4 delivering the value                      nobody                          inline reactions only
//   5 settled    the value                      nobody                          empty
//
//   open ──claim──▶ claimed ──follow──▶ following ──claim──▶ claimed
//   claimed ──settle──▶ settled              the queue was empty
//   claimed ──settle──▶ settling ──hand over──▶ settled | delivering ──delivered──▶ settled
//   settled ──defer──▶ delivering            an inline reaction that cannot run yet
//
// The word is the barrier: whoever registers before the step to settling is in the queue that this step
// takes; whoever comes while settling or delivering stands behind them; whoever comes later sees the
// value. docs/state-machine.md gives the argument.

enum Phase: UInt64 {
    case open, claimed, following, settling, delivering, settled
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
        bits = phase.rawValue | UInt64(UInt(bitPattern: head))
    }

    @inline(__always)
    var phase: Phase {
        guard let phase = Phase(rawValue: bits & StateWord.phaseMask) else {
            fatal("the state word holds no phase")
        }
        return phase
    }

    @inline(__always)
    var isLocked: Bool { bits & StateWord.lockBit != 0 }

    @inline(__always)
    var head: RecordPointer? {
        RecordPointer(bitPattern: UInt(bits & StateWord.queueMask))
    }

    /// Whether the value can be read.
    @inline(__always)
    var hasValue: Bool { bits & StateWord.phaseMask >= Phase.settling.rawValue }
}

/// The phases in which a queue accepts a member.
struct PhaseSet {
    private let bits: UInt64

    private init(bits: UInt64) { self.bits = bits }

    /// A reaction waits until it can be handed to its executor in order.
    static let ofReactions = PhaseSet(bits: 0b001111)
    /// An inline one also waits for the inline ones before it.
    static let ofInlineReactions = PhaseSet(bits: 0b011111)
    /// One that follows stands in the queue of a promise that follows nobody itself.
    static let ofFollowers = PhaseSet(bits: 0b000011)
    /// A thread waits only where there is no value yet.
    static let ofWaiters = PhaseSet(bits: 0b000111)

    @inline(__always)
    func contains(_ word: StateWord) -> Bool {
        bits & (1 << (word.bits & StateWord.phaseMask)) != 0
    }
}
