// The one atomic word of a promise, and every step that the word can take.
//
//   bits 0-2   phase
//   bit  3     locked: one thread reads or relinks the queue or the slot; all others wait
//   bits 4-63  the newest member of the handler queue (addresses are multiples of 16)
//
//   phase        slot of the record holds       what may write the slot         queue
//   0 open       next + upstream of a link;     the queue it stands in;         grows
//                else the hooks of its producer the thread that has the lock
//   1 running    nothing                        the thread that has the lock    grows
//   2 claimed    as before, then the value      the claimer                     grows
//   3 following  next + the promise followed    the queue it stands in, locked  grows
//   4 cancelled  as open, or running; perhaps   the thread that has the lock    grows
//                the error to settle with
//   5 settling   the value                      nobody                          grows; the drainer takes
//   6 delivering the value                      nobody                          inline reactions only
//   7 settled    the value                      nobody                          empty
//
// Cancelled is a phase of what does not settle at once: a reaction, open or running, and a promise whose producer is
// to end its work first. A cancelled promise comes to be rejected, by the thread that would have settled it.
//
// The word is the barrier: a member that registers before the step to settling is in the queue that this step takes; a
// member that comes while the promise is settling or delivering stands behind those; a later one sees the value.
// docs/state-machine.md draws the steps from phase to phase; docs/threads.md gives the argument.

import CVow

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

// MARK: The steps
//
// Every step of the word, by name, with the phases that it may begin in. No other function writes the word.
//
// A step that only its caller can take does not ask where it begins: in a checked build it does, and a promise that is
// anywhere else ends the program with the step's name.

struct PromiseState: ~Copyable, Sendable {
    private let word: AtomicWord

    @inline(__always)
    init(_ phase: Phase) { word = AtomicWord(phase.bits) }

    /// Acquires: pairs with the release of every step that published what the reader looks at next.
    @inline(__always)
    func read() -> StateWord { StateWord(bits: word.loadAcquire()) }

    // MARK: Becoming resolved

    /// Open, running, following or cancelled → claimed. True for one caller only: the right to decide.
    /// Acquires: pairs with the unlock of somebody who read the slot, which the claimer will overwrite.
    @inline(__always)
    func transitionToClaimed(from phase: Phase) -> Bool {
        var pause = Backoff()
        while true {
            let old = StateWord(bits: word.loadRelaxed())
            if old.phase != phase { return false }
            if old.isLocked {
                waitForLock(old, &pause)
                continue
            }
            let new = StateWord(.claimed, old.head)
            if word.replaceAcquire(old.bits, new.bits).exchanged { return true }
        }
    }

    /// claimed → following. Releases the slot, which names the promise followed. Acquires the marks that
    /// followers set before they entered the queue.
    func transitionToFollowing() {
        _ = change("to following", from: .ofClaimed) { old in StateWord(.following, old.head) }
    }

    /// claimed → cancelled: it is rejected when who would have settled it is through. Releases the slot.
    func transitionToCancelled() {
        _ = change("to cancelled", from: .ofClaimed) { old in StateWord(.cancelled, old.head) }
    }

    /// open → cancelled, of a record that nobody else can look at yet.
    func beginCancelled() {
        check("begins cancelled", from: .ofOpen)
        word.storeRelaxed(Phase.cancelled.bits)
    }

    /// Of an observer, idle: settled → open. It is about to look at a promise, and whoever locks it open may read
    /// which: releases. Nobody locks an idle one, so a plain store loses nothing.
    func reopen() {
        check("opens again", from: .ofSettled)
        word.storeRelease(Phase.open.bits)
    }

    /// → settled, by who has it alone: an observer that the caller has claimed, and is idle again (nobody locks a
    /// claimed one); or a record that nobody else can look at any more, or can yet. Releases.
    func close() {
        check("closes", from: .ofClosing)
        word.storeRelease(Phase.settled.bits)
    }

    /// open → running, of a reaction that only the caller has.
    @inline(__always)
    func run() {
        check("runs", from: .ofOpen)
        word.storeRelaxed(Phase.running.bits)
    }

    // MARK: Settling

    /// Open, running or claimed, locked: the first half of the step that settles, in which the caller writes the value. `unlock`
    /// is the second half, and releases the value. Nil when another thread has decided. Acquires the queue's members, and
    /// pairs with `unlock`.
    @inline(__always)
    func lock(whileIn phase: Phase) -> StateWord? {
        var pause = Backoff()
        while true {
            let old = StateWord(bits: word.loadRelaxed())
            if old.phase != phase { return nil }
            if old.isLocked {
                waitForLock(old, &pause)
                continue
            }
            if word.replaceAcquire(old.bits, old.bits | StateWord.lockBit).exchanged { return old }
        }
    }

    /// settling → settled or delivering when no more came; else the late ones (newest first), still
    /// settling. Releases, so that a later registration is ordered behind the hand-over.
    @inline(__always)
    func transitionAfterHandOver(inlineAreLeft: Bool) -> RecordPointer? {
        change("after the hand-over", from: .ofSettling) { old in
            if old.head != nil { return StateWord(.settling, nil) }
            return StateWord(inlineAreLeft ? .delivering : .settled, nil)
        }.head
    }

    /// delivering → settled when no more inline reactions came; else those (newest first).
    func transitionAfterDelivery() -> RecordPointer? {
        change("after the delivery", from: .ofDelivering) { old in
            StateWord(old.head == nil ? .settled : .delivering, nil)
        }.head
    }

    /// settled → delivering: the caller puts an inline reaction off, and later ones line up behind it.
    /// False when somebody else is delivering already.
    func transitionToDelivering() -> Bool {
        word.replaceAcquireRelease(
            Phase.settled.bits, Phase.delivering.bits
        ).exchanged
    }

    // MARK: Waiting in the queue

    /// Adds a member while the phase is in the set. Returns what stood in the way otherwise.
    /// Releases the member's fields; pairs with the acquire of whoever takes the queue. Acquires also when
    /// it succeeds: a follower's look for rings, before it asked whether anybody waits, comes first.
    /// The caller has emptied the member's lane, which is its place in the queue from then on.
    @inline(__always)
    func enlist(_ member: RecordPointer, while phases: PhaseSet) -> StateWord? {
        var pause = Backoff()
        while true {
            let old = StateWord(bits: word.loadAcquire())
            if !phases.contains(old) { return old }
            if old.isLocked {
                waitForLock(old, &pause)
                continue
            }
            member.next = old.head
            let new = StateWord(old.phase, member)
            if word.replaceAcquireRelease(old.bits, new.bits).exchanged { return nil }
        }
    }

    // MARK: The lock

    /// For a few instructions, to read a slot or to relink the queue. Acquires; pairs with `unlock`.
    func lock() -> StateWord {
        var pause = Backoff()
        while true {
            let old = StateWord(bits: word.loadRelaxed())
            if !old.isLocked,
                word.replaceAcquire(old.bits, old.bits | StateWord.lockBit).exchanged
            {
                return old
            }
            waitForLock(old, &pause)
        }
    }

    /// Somebody else has, or had, the lock. In a forked child that may be a thread of the parent, which never gives it
    /// back: then it is broken. What that thread was about to write may be there by half, so nobody decides about such a
    /// promise any more: it stays claimed. Its queue is whole, because a member enters or leaves it by one store.
    @inline(never)
    private func waitForLock(_ old: StateWord, _ pause: inout Backoff) {
        pause.wait()
        if !isForkedChild || !old.isLocked || !(isOnlyThread || pause.isHopeless) { return }
        let phase = old.hasValue ? old.phase : .claimed
        _ = word.replaceAcquireRelease(old.bits, StateWord(phase, old.head).bits)
    }

    /// Ends the lock; the word cannot have changed since.
    @inline(__always)
    func unlock(_ phase: Phase, _ head: RecordPointer?) {
        word.storeRelease(StateWord(phase, head).bits)
    }

    /// In a forked child, where no other thread runs: takes a member out, though the queue may be locked for
    /// ever by a thread of the parent.
    func removeAsOnlyThread(_ member: RecordPointer) {
        let old = StateWord(bits: word.loadRelaxed())
        if old.hasValue { return }
        // As where a lock is broken.
        let phase = old.isLocked ? .claimed : old.phase
        let rest = StateWord(phase, search(member, from: old).head)
        word.storeRelaxed(rest.bits)
    }

    /// One step by the only thread that may take it; members may arrive and lockers pass in between.
    @inline(__always)
    private func change(
        _ name: StaticString, from phases: PhaseSet, _ step: (StateWord) -> StateWord
    ) -> StateWord {
        var pause = Backoff()
        while true {
            let old = StateWord(bits: word.loadRelaxed())
            if old.isLocked {
                waitForLock(old, &pause)
                continue
            }
            check(name, old, from: phases)
            if word.replaceAcquireRelease(old.bits, step(old).bits).exchanged { return old }
        }
    }

    // MARK: Where a step may begin

    @inline(__always)
    private func check(_ step: StaticString, from phases: PhaseSet) {
        #if VOW_CHECKED
            check(step, StateWord(bits: word.loadRelaxed()), from: phases)
        #endif
    }

    @inline(__always)
    private func check(_ step: StaticString, _ old: StateWord, from phases: PhaseSet) {
        #if VOW_CHECKED
            if !phases.contains(old) { failStep(step, old.phase) }
        #endif
    }
}

#if VOW_CHECKED
    @inline(never)
    private func failStep(_ step: StaticString, _ phase: Phase) -> Never {
        fatal("step ", step, ": the promise is ", phase.name)
    }

    extension Phase {
        fileprivate var name: StaticString {
            switch self {
            case .open: return "open"
            case .running: return "running"
            case .claimed: return "claimed"
            case .following: return "following"
            case .cancelled: return "cancelled"
            case .settling: return "settling"
            case .delivering: return "delivering"
            case .settled: return "settled"
            }
        }
    }
#endif

// MARK: Steps of the parent's threads
//
// What a thread of the parent was in the middle of when this process was forked: no thread of the child ends that.

/// How long a step may take before it is taken for one of the parent's, in nanoseconds. Those of the child's own threads
/// take a few instructions.
private let patience: Int64 = 100_000_000

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// In a forked child: the promise or observer is locked or claimed, and stays so.
    var isLeftInStep: Bool { isForkedChild && pointee.state.read().isInStep && staysInStep }

    private var staysInStep: Bool {
        let word = pointee.state.read()
        let deadline = Deadline.after(patience)
        var pause = Backoff()
        while word.isInStep && pointee.state.read().bits == word.bits {
            if deadline.hasPassed { return true }
            pause.wait()
        }
        return false
    }
}

extension StateWord {
    fileprivate var isInStep: Bool { isLocked || phase == .claimed }
}
