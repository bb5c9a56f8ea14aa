// The memory of a promise, of a reaction (which is a promise fused with its resolver) and of a waiting thread: one layout, so
// that one queue can hold all three. `Shape` says which parts follow the record.
//
// Owners of the fields. State.swift has the slot phase by phase.
//
//   value        before settling: the thread with the lock or the claim; then constant
//   next         in a queue, as `wayBack`: that queue, under its word; on a list of outcomes or moving followers: that list;
//                on the way (`isOnTheWay`): the follower's own lock; out (`isOut`): the thread that has claimed the member
//   upstream     constant; a follower's: the thread that moves it, under the follower's lock; claimed and out: the claimer
//   hooks        the thread that has the lock of the open promise; then the thread that took the list
//   errorToCome, errorToRead   the thread with the lock or the claim of a cancelled promise that is out of every queue
//   inlineLeft   settled: the delivering thread, passed on with the word; cancelled: as errorToCome, whose mark it is; a member
//                without a lane: half of its way back
//   passage      a member: the thread that has it; settled: the settling thread; an observer: the thread that stops it
//   flags        atomic bits, set once (a reaction's `dropped` is taken back). `cancelled` and `dropped`: set under the lock or
//                by the claimer before the step that ends that; read after the phase, whose load acquires, or (`handOver`,
//                `nextOfRun`) only to choose a way
//   isObserved   atomic bits. An observer sets *observed* before it enters the queue; a `finally` that is first sets *alone*,
//                and takes it back if its handler fails. The thread that finds no reader left clears both, the freeing thread
//                reads them. A thread that gives up a shield, or detaches, sets the bit of a standing reader; a store of
//                *observed* may undo that: then one reader more stands
//   handler, context, executor   constant; in the place of the handler: `withdrawnUpstream`, the canceller's until the step to
//                cancelled and then the dropping thread's, or `outcome`, `errorOfLeft`, the claimer's or under the lock
//   source       constant while a thread has the inline link on its list; else the thread that has it alone
//   lane         in a queue without a value: the thread with its lock; then the list that has the member
//   destroy      constant, except: the handler's thread writes it before a carrying link, or a `vow_catch_if` without a
//                destructor, follows; a machine writes it before its work is handed over
//   travel       registration: the lock of its source; else constant. The running reaction keeps the thread's current ones

import CVow

typealias RecordPointer = UnsafeMutablePointer<Record>
typealias Handler = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> vow_value
typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void

func address(of function: @escaping Destroy) -> UInt { unsafeBitCast(function, to: UInt.self) }
func address(of function: @escaping Handler) -> UInt { unsafeBitCast(function, to: UInt.self) }

/// The kind of a record. Constant.
struct Shape: OptionSet {
    let rawValue: UInt8
    /// A `LinkPart` follows: a reaction derived this record.
    static let link = Shape(rawValue: 1)
    static let extras = Shape(rawValue: 2)
    static let onFulfilled = Shape(rawValue: 4)
    static let onRejected = Shape(rawValue: 8)
    /// The handler's result counts only if it is an error or a promise.
    static let finally = Shape(rawValue: 16)
    /// A waiting thread (no link): not a promise, and on the thread's stack.
    static let waiter = Shape(rawValue: 32)
    /// A link with extras and a `TravelPart` behind them.
    static let travels = Shape(rawValue: 32)
    /// Never freed and never counted.
    static let immortal = Shape(rawValue: 64)
    /// A promise (no link) whose cancellation only notifies its producer, which settles it when its work has ended.
    static let cooperative = Shape(rawValue: 16)
    /// Between a thenable and its follower: running it calls the object's `subscribe`. The link's context is the object's box.
    static let subscription = Shape(rawValue: 128)
    /// Makes a fiber go on when it is run. Its context is the fiber's memory.
    static let step = Shape(rawValue: 1 | 16 | 128)
    /// A promise (no link) that the library settles. A `ProducerPart` follows.
    static let produced = Shape(rawValue: 128)
    /// A combinator's member of a promise's queue: not a promise, and in the combinator's memory.
    static let observer = Shape(rawValue: 128 | 32)

    /// A constant, because a literal of several may become an array on the heap.
    static let linkWithExtras = Shape(rawValue: 1 | 2)
    static let ofWork = Shape(rawValue: 1 | 2 | 4)
    /// Work that travels is begun by a step, so that it can be cancelled while it runs.
    static let ofFiber = Shape(rawValue: 1 | 2 | 4 | 32)

    @inline(__always)
    var isWaiter: Bool { rawValue & 0b1010_0001 == 32 }
    @inline(__always)
    var isObserver: Bool { rawValue & 0b1010_0001 == 160 }
    @inline(__always)
    var isProduced: Bool { rawValue & 0b1010_0001 == 128 }
    @inline(__always)
    var isTravelling: Bool { rawValue & 0b0010_0001 == 33 }
    /// A handler decides about the promise, not a resolver.
    @inline(__always)
    var isReaction: Bool { rawValue & 0b1000_0001 == 1 }
    /// A shield waits for its promise although it is cancelled, and does not cancel that promise.
    @inline(__always)
    var isShield: Bool { rawValue & 0b1001_1101 == 0b0001_0001 }
    /// A `lane` follows, so the member can be on a second list.
    @inline(__always)
    var hasLane: Bool { contains(.link) || isObserver }
}

/// Marks of a record's way. The thread that has the record alone writes them.
struct Passage: OptionSet {
    let rawValue: UInt8
    /// The last member of the batch that its promise handed over.
    static let lastOfBatch = Passage(rawValue: 1)
    /// The member has no handler for the outcome.
    static let passes = Passage(rawValue: 4)
    /// The member is counted in `inlineLeft` of its promise.
    static let countedInline = Passage(rawValue: 2)
    /// The follower has an outcome already, its `outcome`; only a rejection replaces it.
    static let outcomeIsHeld = Passage(rawValue: 8)
    /// The executor of the reaction cannot run it any more.
    static let isRefused = Passage(rawValue: 16)
    /// Likewise, because the executor was shut down.
    static let isShutOut = Passage(rawValue: 32)
    /// Likewise, because the system gives no thread.
    static let lacksThread = Passage(rawValue: 128)
    /// The member has a producer's reference to its promise, to be given back when the member has run.
    static let holdsProducer = Passage(rawValue: 64)
    /// Both. A literal of several may become an array on the heap, in the middle of the usual path.
    static let ofDelivery = Passage(rawValue: 2 | 64)
}

/// Facts about a record that several threads set and read.
enum RecordFlag {
    /// The queue may hold followers.
    static let hasFollowers: UInt8 = 1
    /// The promise follows another promise, or did. As a member it is no reaction any more.
    static let follows: UInt8 = 2
    /// The promise was cancelled while it was pending; it is not fulfilled any more.
    static let cancelled: UInt8 = 4
    /// A cancelled reaction is still on its executor's list, or on `skipped`, and is dropped there. For a promise with a
    /// resolver: the last resolver was given back while the promise was pending.
    static let dropped: UInt8 = 8
    /// A cancelled reaction that follows has a visit, not a reader's reference, to the followed promise: see `errorOfLeft`.
    static let hasLeft: UInt8 = 8
    /// A reader that leaves this promise is not missed: a follower has gone past it along the same path and reports in its
    /// place, or the promise is a delivery of progress.
    static let passed: UInt8 = 16
    /// The link carries its context. Constant.
    static let carries: UInt8 = 32
    /// The reaction's executor is the inline one, and `source` has the executor's place. Constant.
    static let isInline: UInt8 = 64
    /// The promise has, or had, listeners of its progress.
    static let hasListeners: UInt8 = 128
}

struct Record: ~Copyable {
    let state: PromiseState
    let counts: AtomicWord
    let shape: Shape
    private var passageStorage = Passage()
    /// A rejection has, or will have, a reader.
    let isObserved = ObservedMark()
    let flags: AtomicFlags
    private var inlineLeftStorage: UInt32 = 0
    /// The value of a settled promise; before, the links of a member: see `next` and `upstream`.
    private var slot: (UInt64, UInt64) = (0, 0)
    #if VOW_CHECKED
        var seal = Seal.live(.promise)
        /// The program's handles: see `noteHandle`. A new promise has one.
        let handles = AtomicWord(1)
        /// The name of the function that took the last handle.
        let taker = AtomicWord(0)
        var padding: UInt64 = 0
    #endif

    init(
        _ phase: Phase, shape: Shape, promises: UInt64, producers: UInt64, flags: UInt8 = 0
    ) {
        state = PromiseState(phase)
        self.flags = AtomicFlags(flags)
        counts = AtomicWord(promises * Counts.oneReader | producers * Counts.oneProducer)
        self.shape = shape
    }
}

extension Shape {
    /// Not for a produced promise, whose part has its size.
    var recordSize: Int {
        if contains(.extras) {
            let size =
                MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size
                + MemoryLayout<LinkExtras>.size
            return isTravelling ? size + MemoryLayout<TravelPart>.size : size
        }
        if contains(.link) { return MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size }
        return MemoryLayout<Record>.size
    }
}

/// The context of a carrying link: bytes that the maker copies in behind all other parts, such as a Swift closure.
enum CarriedContext {
    static let size = 32
}

// Plain fields are reached by address, not through `pointee`: a write to a field of a struct is an access to the whole struct,
// and other threads use its atomics meanwhile. `startCore` checks the offsets.

enum RecordOffset {
    static let shape = 16
    static let passage = 17
    static let flags = 19
    static let inlineLeft = 20
    /// For a member without a lane.
    static let lowHalfOfWayBack = 20
    static let slot = 24
    /// In a checked build.
    static let seal = 40
    /// Values of `next`. `out`: the member is in no queue, and no thread uses its slot.
    static let out: UInt64 = 1
    static let onTheWay: UInt64 = 4
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    private var slotAddress: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + RecordOffset.slot
    }

    @inline(__always)
    var passage: Passage {
        get { (UnsafeMutableRawPointer(self) + RecordOffset.passage).load(as: Passage.self) }
        nonmutating set {
            (UnsafeMutableRawPointer(self) + RecordOffset.passage)
                .storeBytes(of: newValue, as: Passage.self)
        }
    }

    /// The link has no extras, listeners or carried context, and only the caller has it. Shape and flags are one load.
    @inline(__always)
    var isBareLink: Bool {
        let marks = (UnsafeMutableRawPointer(self) + RecordOffset.shape).load(as: UInt32.self)
        let mask =
            UInt32(
                ~(Shape.onFulfilled.rawValue | Shape.onRejected.rawValue | Shape.finally.rawValue))
            | UInt32(RecordFlag.hasListeners | RecordFlag.carries) << 24
        return UInt32(littleEndian: marks) & mask == UInt32(Shape.link.rawValue)
    }

    /// Inline reactions that the delivering thread has on its list and has not run. That thread's own.
    @inline(__always)
    var inlineLeft: UInt32 {
        get { (UnsafeMutableRawPointer(self) + RecordOffset.inlineLeft).load(as: UInt32.self) }
        nonmutating set {
            (UnsafeMutableRawPointer(self) + RecordOffset.inlineLeft)
                .storeBytes(of: newValue, as: UInt32.self)
        }
    }

    /// The error (owned) that a cancelled promise is to be rejected with; nil: the error is its token's or the plain one. Under
    /// the promise's lock, or the claimer's. In the place of `upstream`, and marked in `inlineLeft`, which counts later.
    var errorToCome: vow_value? {
        get { inlineLeft & 1 != 0 ? error(at: slotAddress + 8) : nil }
        nonmutating set {
            inlineLeft = inlineLeft & ~3 | (newValue == nil ? 0 : 1)
            (slotAddress + 8).storeBytes(
                of: newValue?.as.pointer, as: UnsafeMutableRawPointer?.self)
        }
    }

    /// A promise with an error to come was asked to stop; a value that comes all the same is its outcome. Owned alike.
    var keepsValue: Bool { inlineLeft & 3 == 3 }

    func keepValue() { inlineLeft |= 2 }

    /// How many hooks of a cancelled promise have not returned; the last one to return settles it. Under the lock.
    var hooksLeft: UInt32 {
        get { inlineLeft >> 3 }
        nonmutating set { inlineLeft = inlineLeft & 7 | newValue << 3 }
    }

    /// The producer of a cancelled promise has ended; its value, if kept, is `value` already. Under the lock.
    var isDoneMeanwhile: Bool {
        get { inlineLeft & 4 != 0 }
        nonmutating set { inlineLeft = inlineLeft & ~4 | (newValue ? 4 : 0) }
    }

    /// The error (owned) that a cancelled reaction, out of its queue, reads in place of the outcome. Under the lock. In the
    /// place of `next`, because `upstream` is still needed; marked by `inlineLeft`.
    var errorToRead: vow_value? {
        get { inlineLeft == 2 ? error(at: slotAddress) : nil }
        nonmutating set {
            inlineLeft = newValue == nil ? 0 : 2
            slotAddress.storeBytes(of: newValue?.as.pointer, as: UnsafeMutableRawPointer?.self)
        }
    }

    private func error(at address: UnsafeMutableRawPointer) -> vow_value {
        vow_value(VOW_ERROR, address.load(as: UnsafeMutableRawPointer.self))
    }

    /// The value of a settled promise, borrowed.
    @inline(__always)
    var value: vow_value {
        get { slotAddress.load(as: vow_value.self) }
        nonmutating set { slotAddress.storeBytes(of: newValue, as: vow_value.self) }
    }

    /// The next member of the queue. The queue's owner writes it while no way back is filled in; a canceller may read `isOut`.
    @inline(__always)
    var next: RecordPointer? {
        get { RecordPointer(bitPattern: UInt(NextWord(slotWord.pointee.peek()).next)) }
        nonmutating set { slotWord.pointee.poke(UInt64(UInt(bitPattern: newValue))) }
    }

    /// `next` of a member that certainly has no way back.
    @inline(__always)
    var nextOfUnmarked: RecordPointer? { RecordPointer(bitPattern: UInt(slotWord.pointee.peek())) }

    /// No member is behind this one. May be false for a last member with a way back.
    @inline(__always)
    var isClearlyLast: Bool { slotWord.pointee.peek() == 0 }

    @inline(__always)
    var slotWord: UnsafeMutablePointer<AtomicWord> {
        slotAddress.assumingMemoryBound(to: AtomicWord.self)
    }

    /// The thread that took this member out, or never put it in, uses the slot no more. Releases; pairs with `isOut`.
    @inline(__always)
    func markOut() { slotWord.pointee.storeRelease(RecordOffset.out) }

    /// `markOut` while no other thread knows the member.
    @inline(__always)
    func beginOut() { slotWord.pointee.poke(RecordOffset.out) }

    /// The follower, in no queue, has a new `upstream`, and the old one may still be kept for it. Under the follower's lock.
    var isOnTheWay: Bool {
        get { slotWord.pointee.peek() == RecordOffset.onTheWay }
        nonmutating set { slotWord.pointee.poke(newValue ? RecordOffset.onTheWay : 0) }
    }

    var isOut: Bool { slotWord.pointee.loadAcquire() == RecordOffset.out }

    /// The hooks of an open promise that is no reaction. Under the lock.
    @inline(__always)
    var hooks: HookPointer? {
        get { HookPointer(bitPattern: UInt(slotWord.pointee.peek())) }
        nonmutating set { slotWord.pointee.poke(UInt64(UInt(bitPattern: newValue))) }
    }

    /// The member's second link: the next member of an executor's or a thread's list, or, in a queue, the `wayBack`. A
    /// canceller may read it, and find nil, while the member is about to enter a queue.
    @inline(__always)
    var lane: RecordPointer? {
        get { RecordPointer(bitPattern: UInt(laneWord.pointee.peek())) }
        nonmutating set { laneWord.pointee.poke(UInt64(UInt(bitPattern: newValue))) }
    }

    @inline(__always)
    private var laneWord: UnsafeMutablePointer<AtomicWord> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size)
            .assumingMemoryBound(to: AtomicWord.self)
    }

    /// The promise that this one reads or follows (one reference, owned). Nil for work that reads no promise.
    @inline(__always)
    var upstream: RecordPointer? {
        get { (slotAddress + 8).load(as: RecordPointer?.self) }
        nonmutating set { (slotAddress + 8).storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    @inline(__always)
    var link: UnsafeMutablePointer<LinkPart> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size)
            .assumingMemoryBound(to: LinkPart.self)
    }

    @inline(__always)
    var extras: UnsafeMutablePointer<LinkExtras> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size)
            .assumingMemoryBound(to: LinkExtras.self)
    }

    @inline(__always)
    var travel: UnsafeMutablePointer<TravelPart> {
        (UnsafeMutableRawPointer(extras) + MemoryLayout<LinkExtras>.size)
            .assumingMemoryBound(to: TravelPart.self)
    }

    @inline(__always)
    func handles(rejected: Bool) -> Bool {
        pointee.shape.contains(rejected ? .onRejected : .onFulfilled)
    }

    /// A cancelled reaction may have a handler to run: for the error, or for the outcome it reads all the same.
    var mayRunCancelled: Bool { handles(rejected: true) || pointee.shape.contains(.finally) }

    /// Nil: the outcome passes through.
    @inline(__always)
    func handler(rejected: Bool) -> Handler? {
        let shape = pointee.shape
        if !shape.contains(rejected ? .onRejected : .onFulfilled) { return nil }
        return rejected && shape.contains(.extras)
            ? extras.pointee.onRejected : link.pointee.handler
    }
}

/// Compares the offsets above with the compiler's layout, once at the start.
func checkRecordLayout() {
    var probe = Record(.open, shape: [], promises: 0, producers: 0)
    withUnsafeMutablePointer(to: &probe) { it in
        it.passage = .outcomeIsHeld
        it.inlineLeft = 7
        it.upstream = it
        if !it.pointee.isLaidOut(upstream: it) {
            fatal("the fields of a promise are not where they are looked for")
        }
        it.upstream = nil
    }
}

extension Record {
    fileprivate borrowing func isLaidOut(upstream: RecordPointer) -> Bool {
        passageStorage == .outcomeIsHeld && inlineLeftStorage == 7
            && slot.1 == UInt64(UInt(bitPattern: upstream))
    }
}

// MARK: The parts of a reaction

/// Record and `LinkPart` take 72 bytes.
struct LinkPart {
    private var laneStorage: UInt64 = 0
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    private var executorOrSource: UnsafeMutableRawPointer?

    init(handler: Handler?, context: UnsafeMutableRawPointer?, executor: ExecutorPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(executor)
    }

    init(handler: Handler?, context: UnsafeMutableRawPointer?, source: RecordPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(source)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    var isInline: Bool { pointee.flags.contains(RecordFlag.isInline) }

    /// No canceller writes anything that the thread with the reaction on its list reads: so the handler runs without a step.
    @inline(__always)
    var isBegunByRunning: Bool { isInline && !pointee.shape.isTravelling }

    /// For a reaction that is not inline.
    @inline(__always)
    var executorElsewhere: ExecutorPointer? {
        executorOrSource.load(as: ExecutorPointer?.self)
    }

    /// The promise that an inline reaction reads. No canceller writes it while the reaction is on a thread's list. A reaction
    /// with a token may read another promise: its `upstream`.
    @inline(__always)
    var source: RecordPointer? {
        get { executorOrSource.load(as: RecordPointer?.self) }
        nonmutating set { executorOrSource.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// The promise (owned) that a withdrawn reaction read, until the executor drops it. In the place of the handler.
    var withdrawnUpstream: RecordPointer? {
        get { handlerPlace.load(as: RecordPointer?.self) }
        nonmutating set { handlerPlace.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// The promise (owned) whose outcome a `finally` passes on, while it waits for its handler's promise. In the same place.
    var outcome: RecordPointer? {
        get { withdrawnUpstream }
        nonmutating set { withdrawnUpstream = newValue }
    }

    /// The error (owned) of a cancelled reaction that still follows a promise with other readers: the reaction is rejected with
    /// it. In the same place; marked by `RecordFlag.hasLeft`.
    var errorOfLeft: vow_value {
        get { vow_value(VOW_ERROR, handlerPlace.load(as: UnsafeMutableRawPointer.self)) }
        nonmutating set {
            handlerPlace.storeBytes(of: newValue.as.pointer, as: UnsafeMutableRawPointer?.self)
        }
    }

    private var handlerPlace: UnsafeMutableRawPointer { linkField(1) }

    @inline(__always)
    private var executorOrSource: UnsafeMutableRawPointer { linkField(3) }

    @inline(__always)
    private func linkField(_ index: Int) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + MemoryLayout<Record>.size
            + index * MemoryLayout<UInt64>.size
    }
}

/// Made by `vow_then_with`.
struct LinkExtras {
    var onRejected: Handler?
    var destroy: Destroy?
    var label: UnsafePointer<CChar>?
}

/// Made for a token, a context or a scope.
struct TravelPart {
    /// Member of the token's list. The source is counted here until the reaction leaves it.
    var registration: Registration
    /// The end of the scope that the reaction was made under; one producer's reference.
    var scope: RecordPointer?
    /// The context that the handler runs with; owned.
    var context: vow_value
}

extension TravelPart {
    init(token: SourcePointer?, _ surroundings: Surroundings) {
        registration = Registration(.reaction, token)
        scope = surroundings.scope
        context = surroundings.context
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Borrowed; nil: the link carries nothing.
    var surroundings: Surroundings? {
        if !pointee.shape.isTravelling { return nil }
        return Surroundings(context: travel.pointee.context, scope: travel.pointee.scope)
    }
}

struct Surroundings {
    /// `reserved` has the mark if there is a scope.
    var context = vow_none()
    /// The promise of the scope's end.
    var scope: RecordPointer?

    /// In the context's reserved word, whose other bits say which Swift type a small value has.
    static let scopeMark: UInt32 = 1 << 31
}

// MARK: The counts
//
// Three counts in one word, so that "no other reference" is one load. The record is freed when all are 0.
//
// A *reader* can learn the outcome: a handle, a reaction, a follower or an observer. When the last reader goes, the producer is
// notified. A *producer* may settle the promise: a resolver's handle, a timer, or the queue or executor that has a reaction. A
// *visitor* walks past the promise, cancels or moves it; it keeps the memory and is no sign of interest. An observer's word is
// no count but its owner's address; a waiting thread sleeps on its own.
//
// Retaining is relaxed: the caller has a reference, or the lock of a holder. Giving back is acquire-release, so that the last
// use of the record happens before its end. An exchange of one kind for another (`stay`, `leaveUnlessLast`) is an
// acquire-release compare-and-exchange under the lock of the record concerned, so all exchanges have one order.
//
// *Sole ownership.* A count equal to the caller's own references cannot change, since only a holder can take another reference.
// So the last release is one acquiring load, which pairs with the releases before it. No other thread can enlist, lock or read
// the phase any more, so plain stores suffice: `endReading` closes the promise so, after its last reaction was settled (until
// then a walk could come from there), and `isUnseen` lets a reaction begin and settle so.
//
// *Leaving (G14).* A cancelled promise leaves its upstream if that has another reader; else it cancels the upstream and stays
// until that has ended. Asking and leaving are one step (`leaveUnlessLast`), so of several that leave at the same time the last
// one stays. A visitor becomes a reader only while there is a reader (`stay`): without one, the producer may have been notified
// already. That does not change back, except through a reference that keeps the promise. A refused follower looks for its path
// again. CancelReaction.swift and Follow.swift have the rest.

struct Counts: Equatable {
    let bits: UInt64

    /// One reference of each kind: room for 268 million readers, 4 million producers and 16 thousand visitors.
    static let oneReader: UInt64 = 1
    static let oneProducer: UInt64 = 1 << 28
    static let oneVisitor: UInt64 = 1 << 50

    var readers: UInt64 { bits & (Counts.oneProducer - 1) }
    var producers: UInt64 { bits >> 28 & (1 << 22 - 1) }
    /// No handle, reaction, follower or observer is left. Does not change back.
    var isUnread: Bool { readers == 0 }
    /// The only references are one producer's and the visits that the caller knows of.
    @inline(__always)
    func isOneProducers(besides visitors: UInt64 = 0) -> Bool {
        bits == Counts.oneProducer | visitors
    }
    /// The only references besides producers' are so many readers', and the visits that the caller knows of.
    func isRead(by readers: Int, besides visitors: UInt64) -> Bool {
        bits & ~(Counts.oneVisitor - Counts.oneProducer)
            == UInt64(readers) * Counts.oneReader + visitors
    }
    /// Leaked handles, as of a loop that never gives them back, end the program here, long before a count is full.
    var isHalfFull: Bool { bits & (1 << 27 | 1 << 49 | 1 << 63) != 0 }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Relaxed: the caller has a reference.
    @inline(__always)
    func retain() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneReader) }
    }

    @inline(__always)
    func retainProducer() {
        if !pointee.shape.contains(.immortal) { _ = pointee.counts.addRelaxed(Counts.oneProducer) }
    }

    /// The caller's reader reference is the only reference of any kind.
    @inline(__always)
    var isOnlyMine: Bool { pointee.counts.loadAcquire() == Counts.oneReader }

    @inline(__always)
    var nowCounts: Counts { Counts(bits: pointee.counts.loadAcquire()) }
}

// MARK: Visits

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Keeps the record without being a reader. Relaxed: the caller has a reference, or the lock of a holder.
    func visit() { retainOneOfMany(Counts.oneVisitor) }

    /// Turns a visit into a reader. Returns false, and keeps the visit, if no reader is left: the producer has been notified.
    func stay() -> Bool {
        exchangeReference(by: Counts.oneReader &- Counts.oneVisitor, unlessReadersAre: 0)
    }

    /// Turns a reader into a visit, unless it is the last reader. Of several threads that leave at once, one is refused.
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

    /// The promise has a value by now: a reaction that left reads it after all, and its visit becomes a reader again.
    func comeBack() {
        if pointee.shape.contains(.immortal) { return }
        _ = pointee.counts.addRelaxed(Counts.oneReader &- Counts.oneVisitor)
    }

    /// Adds a reference of a kind whose number has no bound: a program's handles, visits.
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
