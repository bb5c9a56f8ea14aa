// The one atomic word of a promise, and every step that the word can take.
//
//   bits 0-2   phase
//   bit  3     locked: one thread reads or relinks the queue or the slot; all others wait
//   bits 4-63  the newest member of the queue (addresses are multiples of 16)
//
//   phase        slot of the record holds       what may write the slot         queue
//   0 open       next + upstream of a link;     the queue it stands in;         grows
//                else the hooks of its producer the thread that has the lock
//   1 running    nothing                        the thread that has the lock    grows
//   2 claimed    as before, then the value      the claimer                     grows
//   3 following  next + the promise followed    the queue it stands in, locked  grows
//   4 cancelled  as open, or running; perhaps   the thread that has the lock    grows
//                the error to settle with
//   5 settling   the value                      no thread                       grows; the drainer takes
//   6 delivering the value                      no thread                       inline reactions only
//   7 settled    the value                      no thread                       empty
//
// A cancelled promise is rejected later: a reaction by the thread that begins or runs it, any other promise by its producer.
//
// The two ways to decide are the claim and the lock (`lock(whileIn:)`). Both wait while the word is locked, and every other
// thread reads `upstream` under the lock. So the deciding thread never overwrites a slot that is being read. The lock is held
// for a few instructions and never across foreign code; only `cancelUpwards` holds two, in a fixed order.
//
// Order of handlers (G2). The step to settling takes the queue: a stack, which the hand-over reverses once. While the promise
// is settling, `enlist` still accepts members; after each batch the settling thread takes the late ones as the next batch. A
// reaction that finds the promise settled hands itself over: its acquire pairs with the release of the step to settled, so all
// earlier hand-overs happened before. A serial executor keeps this order. The inline executor has no queue, so the promise
// keeps the order: while it is delivering, inline reactions of other threads enter the queue, and the delivering thread runs
// them. The phase ends when the last inline handler has returned, or is about to block in `vow_await`. A running handler that
// registers an inline reaction on a settled promise moves it back to delivering, so that no later reaction overtakes.
//
// docs/state-machine.md draws the steps; docs/threads.md has the table of the orderings that pair.

import CVow

enum Phase: UInt8 {
    case open, running, claimed, following, cancelled, settling, delivering, settled

    @inline(__always)
    var bits: UInt64 { UInt64(rawValue) }
}

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
        // The raw value is the representation: a `switch` over the number would be a jump through a table in every step.
        return unsafeBitCast(UInt8(truncatingIfNeeded: bits & StateWord.phaseMask), to: Phase.self)
    }

    @inline(__always)
    var isLocked: Bool { bits & StateWord.lockBit != 0 }

    @inline(__always)
    var head: RecordPointer? {
        RecordPointer(bitPattern: UInt(bits & StateWord.queueMask))
    }

    /// The promise is open, or it is cancelled and its producer has not ended.
    var isToBeSettled: Bool { phase == .open || phase == .cancelled }

    /// The slot holds the value, which may be read.
    @inline(__always)
    var hasValue: Bool { bits & StateWord.phaseMask >= Phase.settling.bits }
}

/// The phases in which a queue accepts a member, or in which a step may begin.
struct PhaseSet {
    private let bits: UInt64

    private init(bits: UInt64) { self.bits = bits }

    /// A reaction waits until it can be handed to its executor in order.
    static let ofReactions = PhaseSet(bits: 0b0011_1111)
    /// An inline reaction also waits for the inline reactions before it.
    static let ofInlineReactions = PhaseSet(bits: 0b0111_1111)
    /// A follower is a member of the queue of a promise that follows no other promise.
    static let ofFollowers = PhaseSet(bits: 0b0001_0111)
    /// A thread waits only while there is no value.
    static let ofWaiters = PhaseSet(bits: 0b0001_1111)

    static let ofOpen = PhaseSet(bits: 0b0000_0001)
    static let ofClaimed = PhaseSet(bits: 0b0000_0100)
    static let ofSettling = PhaseSet(bits: 0b0010_0000)
    static let ofDelivering = PhaseSet(bits: 0b0100_0000)
    static let ofSettled = PhaseSet(bits: 0b1000_0000)
    /// `close` begins in these: an observer that its owner claimed, or a record whose value is there or is not needed.
    static let ofClosing = PhaseSet(bits: 0b0100_0101)

    @inline(__always)
    func contains(_ word: StateWord) -> Bool {
        bits & (1 << (word.bits & StateWord.phaseMask)) != 0
    }
}

// MARK: The steps
//
// No other function writes the word. A step that only its caller can take does not compare the phase; a checked build does, and
// ends the program with the step's name if the step begins in another phase.

struct PromiseState: ~Copyable, Sendable {
    private let word: AtomicWord

    @inline(__always)
    init(_ phase: Phase) { word = AtomicWord(phase.bits) }

    /// Acquires: pairs with the release of every step that published the value or the slot.
    @inline(__always)
    func read() -> StateWord { StateWord(bits: word.loadAcquire()) }

    // MARK: Becoming resolved

    /// Open, running, following or cancelled → claimed. Returns true to one caller only, which has the right to decide.
    /// Acquires: pairs with the `unlock` of a thread that read the slot, which the claimer overwrites.
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

    /// claimed → following. Releases `upstream`. Acquires the mark `hasFollowers`, which a follower sets before it enters.
    func transitionToFollowing() {
        _ = change("to following", from: .ofClaimed) { old in StateWord(.following, old.head) }
    }

    /// claimed → cancelled: the thread that would have settled the promise rejects it later. Releases the slot.
    func transitionToCancelled() {
        _ = change("to cancelled", from: .ofClaimed) { old in StateWord(.cancelled, old.head) }
    }

    /// open → cancelled, while no other thread knows the record.
    func beginCancelled() {
        check("begins cancelled", from: .ofOpen)
        word.storeRelaxed(Phase.cancelled.bits)
    }

    /// settled → open: an idle observer looks at a promise again. Releases `upstream` to a thread that locks the open word. No
    /// thread locks an idle observer, so a plain store loses no step.
    func reopen() {
        check("opens again", from: .ofSettled)
        word.storeRelease(Phase.open.bits)
    }

    /// → settled, while the caller alone has the record: an observer that the caller has claimed (a claimed one is never
    /// locked), or a promise that no other thread can reach any more, or yet. Releases.
    func close() {
        check("closes", from: .ofClosing)
        word.storeRelease(Phase.settled.bits)
    }

    /// open → running, for a reaction that only the caller has.
    @inline(__always)
    func run() {
        check("runs", from: .ofOpen)
        word.storeRelaxed(Phase.running.bits)
    }

    // MARK: Settling

    /// Locks an open, running or claimed promise: the first half of settling, in which the caller writes the value. `unlock` is
    /// the second half and releases the value. Nil: another thread has decided. Acquires the members' fields.
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

    /// settling → settled or delivering if no more members came. Else the late members (newest first) are returned, and the
    /// promise is still settling. Releases, so that a later registration is ordered behind the hand-over.
    @inline(__always)
    func transitionAfterHandOver(inlineAreLeft: Bool) -> RecordPointer? {
        change("after the hand-over", from: .ofSettling) { old in
            if old.head != nil { return StateWord(.settling, nil) }
            return StateWord(inlineAreLeft ? .delivering : .settled, nil)
        }.head
    }

    /// delivering → settled if no more inline reactions came; else these are returned (newest first).
    func transitionAfterDelivery() -> RecordPointer? {
        change("after the delivery", from: .ofDelivering) { old in
            StateWord(old.head == nil ? .settled : .delivering, nil)
        }.head
    }

    /// The same if no member has entered the queue meanwhile and no thread locks it; else nothing changes.
    @inline(__always)
    func endsDelivery() -> Bool {
        word.replaceAcquireRelease(
            Phase.delivering.bits, Phase.settled.bits
        ).exchanged
    }

    /// settled → delivering: the caller defers an inline reaction, and later ones line up behind it. False if it is delivering.
    func transitionToDelivering() -> Bool {
        word.replaceAcquireRelease(
            Phase.settled.bits, Phase.delivering.bits
        ).exchanged
    }

    // MARK: Waiting in the queue

    /// Adds a member while the phase is in the set. Otherwise returns the word that refused it. Releases the member's fields to
    /// the thread that takes the queue. Acquires on success too: the look for rings of a follower that found its queue empty
    /// happens before that of a later member. The caller has emptied the member's lane.
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

    /// Locks for a few instructions, to read a slot or to relink the queue. Acquires; pairs with `unlock`.
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

    /// Waits while another thread has the lock. In a forked child that thread may have been left in the parent: then the lock
    /// is broken: at once if this is the child's only thread, else after a second. The slot may be half written, so the promise
    /// stays claimed for ever. The queue is whole, because a member enters or leaves it by one store.
    @inline(never)
    private func waitForLock(_ old: StateWord, _ pause: inout Backoff) {
        pause.wait()
        if !isForkedChild || !old.isLocked || !(isOnlyThread || pause.isHopeless) { return }
        let phase = old.hasValue ? old.phase : .claimed
        _ = word.replaceAcquireRelease(old.bits, StateWord(phase, old.head).bits)
    }

    /// Ends the lock. The word cannot have changed since `lock`.
    @inline(__always)
    func unlock(_ phase: Phase, _ head: RecordPointer?) {
        word.storeRelease(StateWord(phase, head).bits)
    }

    /// Takes a member out in a forked child with one thread. A thread of the parent may hold the lock for ever.
    func removeAsOnlyThread(_ member: RecordPointer) {
        let old = StateWord(bits: word.loadRelaxed())
        if old.hasValue { return }
        // As `waitForLock` breaks a lock.
        let phase = old.isLocked ? .claimed : old.phase
        let rest = StateWord(phase, search(member, from: old).head)
        word.storeRelaxed(rest.bits)
    }

    /// Takes one step that only this thread may take. Members may enter, and other threads may lock, in between.
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

// MARK: Steps that were left in the parent
//
// A step that a thread of the parent was in the middle of at the fork is never ended in the child.

/// Nanoseconds after which a step counts as left in the parent. A step of the child's own threads takes a few instructions.
private let patience: Int64 = 100_000_000

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// In a forked child, a thread of the parent has locked or claimed the promise or observer, for ever.
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
