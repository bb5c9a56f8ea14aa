// The memory of a promise, of a reaction (which is a promise fused with what resolves it), and of a waiting thread: one
// layout, so that one queue can hold all three.
//
// A record has the state word, the counts and a slot. The phase of the word says what the slot holds and what may write
// the slot: see State.swift. `Counts` says how long the memory stays, and whether a producer's work is still wanted.
// Behind the record stands what its shape adds: `LinkPart` for a reaction, with the handler, its context and its executor,
// and `LinkExtras` for what options and tokens add to those; `ProducerPart`, of the floor above, for a promise of the
// library's own making.

import CVow

typealias RecordPointer = UnsafeMutablePointer<Record>
typealias Handler = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> vow_value
typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void

func address(of function: @escaping Destroy) -> UInt { unsafeBitCast(function, to: UInt.self) }
func address(of function: @escaping Handler) -> UInt { unsafeBitCast(function, to: UInt.self) }

/// What a record is; never changes.
struct Shape: OptionSet {
    let rawValue: UInt8
    /// Derived by a reaction: `LinkPart` follows the record.
    static let link = Shape(rawValue: 1)
    /// `LinkExtras` follow the `LinkPart`.
    static let extras = Shape(rawValue: 2)
    static let onFulfilled = Shape(rawValue: 4)
    static let onRejected = Shape(rawValue: 8)
    /// The handler's result counts only when it rejects or is a promise.
    static let finally = Shape(rawValue: 16)
    /// Of a record that is no link. A thread that waits: not a promise, lives on a stack.
    static let waiter = Shape(rawValue: 32)
    /// Of a link with extras: a `TravelPart` follows them.
    static let travels = Shape(rawValue: 32)
    /// Never freed, never counted.
    static let immortal = Shape(rawValue: 64)
    /// Of a record that is no link: cancelling it only tells its producer, who settles it when its work has ended.
    static let cooperative = Shape(rawValue: 16)
    /// Stands between a thenable and the promise that follows it: running it means subscribing. The
    /// context of its `LinkPart` is the object's box.
    static let subscription = Shape(rawValue: 128)
    /// Of a record that is no link: the library itself settles it, and its `ProducerPart` follows.
    static let produced = Shape(rawValue: 128)
    /// A combinator's eye on one of its promises: not a promise, lives in the combinator's memory.
    static let observer = Shape(rawValue: 128 | 32)

    /// A literal of several may become an array on the heap.
    static let linkWithExtras = Shape(rawValue: 1 | 2)
    static let ofWork = Shape(rawValue: 1 | 2 | 4)

    @inline(__always)
    var isWaiter: Bool { rawValue & 0b1010_0001 == 32 }
    @inline(__always)
    var isObserver: Bool { rawValue & 0b1010_0001 == 160 }
    @inline(__always)
    var isProduced: Bool { rawValue & 0b1010_0001 == 128 }
    @inline(__always)
    var isTravelling: Bool { rawValue & 0b0010_0001 == 33 }
    /// A handler decides about it, and not somebody with a resolver.
    @inline(__always)
    var isReaction: Bool { rawValue & 0b1000_0001 == 1 }
    /// A link that waits for its promise though it is cancelled, and leaves that alone.
    @inline(__always)
    var isShield: Bool { rawValue & 0b1001_1101 == 0b0001_0001 }
    /// A `LinkPart` or the beginning of one follows, so that it can be linked twice.
    @inline(__always)
    var hasLane: Bool { contains(.link) || isObserver }
}

/// Where a record stands on its way; written by whoever holds it alone at that time.
struct Passage: OptionSet {
    let rawValue: UInt8
    /// As a member: the last of the batch that its promise handed over.
    static let lastOfBatch = Passage(rawValue: 1)
    /// As a member: it has no handler for the outcome.
    static let passes = Passage(rawValue: 4)
    /// As a member: counted in `inlineLeft` of its promise.
    static let countedInline = Passage(rawValue: 2)
    /// As a follower: the outcome is already known (its `outcome`); only a rejection replaces it.
    static let outcomeIsHeld = Passage(rawValue: 8)
    /// As a reaction: its executor cannot run it any more.
    static let isRefused = Passage(rawValue: 16)
    /// The same, because its executor was shut down.
    static let isShutOut = Passage(rawValue: 32)
    /// The same, because the system gives no thread.
    static let lacksThread = Passage(rawValue: 128)
    /// As a member: a producer's reference to its promise goes with it, to be given back when it has run.
    static let holdsProducer = Passage(rawValue: 64)
    /// These two. A literal of several may become an array on the heap, in the middle of the usual path.
    static let ofDelivery = Passage(rawValue: 2 | 64)
}

/// What several threads say of a record.
enum RecordFlag {
    /// The queue may hold followers.
    static let hasFollowers: UInt8 = 1
    /// It follows another promise, or did: no reaction any more.
    static let follows: UInt8 = 2
    /// Cancelled while it was pending: it is not fulfilled any more.
    static let cancelled: UInt8 = 4
    /// Of a reaction, cancelled: its executor, or the thread's list of skipped ones, has it still, and will drop it. Of a
    /// promise with a resolver: the last one was given back while it was pending.
    static let dropped: UInt8 = 8
    /// Of a cancelled reaction that follows: its reference to what it follows is a visit. See `errorOfLeft`.
    static let hasLeft: UInt8 = 8
    /// Who does not read it any more is not missed: a follower has gone on past it, further along the same path, and
    /// reports in its place, or it is a delivery of progress.
    static let passed: UInt8 = 16
    /// From the beginning: a link that carries its context.
    static let carries: UInt8 = 32
    /// From the beginning: a reaction of the inline executor. The place of the executor holds its `source`.
    static let isInline: UInt8 = 64
    /// Somebody listens to its progress, or did.
    static let hasListeners: UInt8 = 128
}

struct Record: ~Copyable {
    let state: PromiseState
    /// See `Counts`. Freed when all are 0.
    let counts: AtomicWord
    let shape: Shape
    /// Read and written through the pointer's `passage`.
    private var passageStorage = Passage()
    /// Somebody learned, or will learn, of a rejection.
    let isObserved = ObservedMark()
    let flags: AtomicFlags
    /// Read and written through the pointer's `inlineLeft`.
    private var inlineLeftStorage: UInt32 = 0
    /// The value once settled; before, the links of a member: see `next` and `upstream`.
    private var slot: (UInt64, UInt64) = (0, 0)
    #if VOW_CHECKED
        var seal = Seal.live(.promise)
        /// Of the program: see `noteHandle`. Every promise begins as somebody's.
        let handles = AtomicWord(1)
        /// The name of the function that took one last.
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
    /// Of all but produced ones, whose part knows.
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

/// The context of a link that carries one: bytes that its maker hands over with a copy, as the Swift face does with a closure.
/// They stand behind all its other parts.
enum CarriedContext {
    static let size = 32
}

// Plain fields are reached by address and not through `pointee`: changing a field of a struct is an access
// to the whole struct, and other threads use its atomics meanwhile. `startCore` checks the addresses.

/// Where the fields of a record stand.
enum RecordOffset {
    static let shape = 16
    static let passage = 17
    static let flags = 19
    static let inlineLeft = 20
    /// Of a member without a lane.
    static let lowHalfOfWayBack = 20
    static let slot = 24
    /// In a checked build.
    static let seal = 40
    /// As `next`: no member of any queue.
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

    /// Of a record that no other thread has: a link without extras, listeners and a carried context. The shape and the flags
    /// are read as one.
    @inline(__always)
    var isBareLink: Bool {
        let marks = (UnsafeMutableRawPointer(self) + RecordOffset.shape).load(as: UInt32.self)
        let mask =
            UInt32(
                ~(Shape.onFulfilled.rawValue | Shape.onRejected.rawValue | Shape.finally.rawValue))
            | UInt32(RecordFlag.hasListeners | RecordFlag.carries) << 24
        return UInt32(littleEndian: marks) & mask == UInt32(Shape.link.rawValue)
    }

    /// Inline reactions handed to the delivering thread and not yet run; that thread's own.
    @inline(__always)
    var inlineLeft: UInt32 {
        get { (UnsafeMutableRawPointer(self) + RecordOffset.inlineLeft).load(as: UInt32.self) }
        nonmutating set {
            (UnsafeMutableRawPointer(self) + RecordOffset.inlineLeft)
                .storeBytes(of: newValue, as: UInt32.self)
        }
    }

    /// Of a cancelled promise, under its lock or of its claimer: the error that it is to be rejected with, owned; nil: that
    /// is known by other means. It stands where `upstream` does, and is marked in a field that counts later.
    var errorToCome: vow_value? {
        get { inlineLeft & 1 != 0 ? error(at: slotAddress + 8) : nil }
        nonmutating set {
            inlineLeft = inlineLeft & ~3 | (newValue == nil ? 0 : 1)
            (slotAddress + 8).storeBytes(
                of: newValue?.as.pointer, as: UnsafeMutableRawPointer?.self)
        }
    }

    /// Of a promise with an error to come, likewise: it was asked to stop, and a value that comes all the same is its outcome.
    var keepsValue: Bool { inlineLeft & 3 == 3 }

    func keepValue() { inlineLeft |= 2 }

    /// Of a cancelled promise with a producer, under its lock: how many functions that are told so have not returned. It is
    /// settled when all have.
    var hooksLeft: UInt32 {
        get { inlineLeft >> 3 }
        nonmutating set { inlineLeft = inlineLeft & 7 | newValue << 3 }
    }

    /// Likewise: its producer has ended its work meanwhile; what it came with, if that is kept, is its `value` already.
    var isDoneMeanwhile: Bool {
        get { inlineLeft & 4 != 0 }
        nonmutating set { inlineLeft = inlineLeft & ~4 | (newValue ? 4 : 0) }
    }

    /// Of a cancelled reaction that is out of its queue, under its lock: the error that it reads in place of its promise's
    /// outcome, owned. It stands where `next` does, because the promise is needed; so it is marked otherwise.
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

    /// The next member of the queue that this record stands in. The owner of that queue writes it, when no way back is
    /// filled in; who has cancelled the member reads meanwhile whether it `isOut`.
    @inline(__always)
    var next: RecordPointer? {
        get { RecordPointer(bitPattern: UInt(NextWord(slotWord.pointee.peek()).next)) }
        nonmutating set { slotWord.pointee.poke(UInt64(UInt(bitPattern: newValue))) }
    }

    /// The same, of one whose way back is not filled in for certain.
    @inline(__always)
    var nextOfUnmarked: RecordPointer? { RecordPointer(bitPattern: UInt(slotWord.pointee.peek())) }

    /// Of a member of a queue: there is none behind it. It may say no where a way back is filled in.
    @inline(__always)
    var isClearlyLast: Bool { slotWord.pointee.peek() == 0 }

    @inline(__always)
    var slotWord: UnsafeMutablePointer<AtomicWord> {
        slotAddress.assumingMemoryBound(to: AtomicWord.self)
    }

    /// Who took this member out of its queue, or never put it in, says that it will not use the slot any more.
    /// Releases; pairs with `isOut`.
    @inline(__always)
    func markOut() { slotWord.pointee.storeRelease(RecordOffset.out) }

    /// The same before anybody else knows the member.
    @inline(__always)
    func beginOut() { slotWord.pointee.poke(RecordOffset.out) }

    /// Of a follower that stands in no queue, under its lock: whom it follows was changed, and whom it followed is perhaps still
    /// kept for it.
    var isOnTheWay: Bool {
        get { slotWord.pointee.peek() == RecordOffset.onTheWay }
        nonmutating set { slotWord.pointee.poke(newValue ? RecordOffset.onTheWay : 0) }
    }

    var isOut: Bool { slotWord.pointee.loadAcquire() == RecordOffset.out }

    /// Of an open promise that is no reaction: what its producer asked to be called. Under the lock.
    @inline(__always)
    var hooks: HookPointer? {
        get { HookPointer(bitPattern: UInt(slotWord.pointee.peek())) }
        nonmutating set { slotWord.pointee.poke(UInt64(UInt(bitPattern: newValue))) }
    }

    /// A second link: the next one in an executor's or a thread's list. In a promise's queue: `wayBack`.
    ///
    /// A canceller may look at it, and find nothing, while its member is about to enter a queue.
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

    /// The promise that this reaction reads or this promise follows; one reference, owned. Nil for work
    /// that reads no promise.
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

    /// Whether there is a handler for an outcome; else it passes through.
    @inline(__always)
    func handles(rejected: Bool) -> Bool {
        pointee.shape.contains(rejected ? .onRejected : .onFulfilled)
    }

    /// Once it is cancelled: it has a handler for that, or perhaps one for what it reads all the same.
    var mayRunCancelled: Bool { handles(rejected: true) || pointee.shape.contains(.finally) }

    /// The handler for an outcome; nil: it passes through.
    @inline(__always)
    func handler(rejected: Bool) -> Handler? {
        let shape = pointee.shape
        if !shape.contains(rejected ? .onRejected : .onFulfilled) { return nil }
        return rejected && shape.contains(.extras)
            ? extras.pointee.onRejected : link.pointee.handler
    }
}

/// The offsets above, against what the compiler made. Once, at the start.
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

// MARK: What a reaction adds

/// What a reaction adds to a record. 72 bytes together.
struct LinkPart {
    /// See `lane`.
    private var laneStorage: UInt64 = 0
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    private var executorOrSource: UnsafeMutableRawPointer?

    init(handler: Handler?, context: UnsafeMutableRawPointer?, executor: ExecutorPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(executor)
    }

    /// Of an inline reaction.
    init(handler: Handler?, context: UnsafeMutableRawPointer?, source: RecordPointer?) {
        self.handler = handler
        self.context = context
        executorOrSource = UnsafeMutableRawPointer(source)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    var isInline: Bool { pointee.flags.contains(RecordFlag.isInline) }

    /// Nobody has to be asked before its handler runs: the thread that has it on its list reads nothing that a
    /// canceller writes.
    @inline(__always)
    var isBegunByRunning: Bool { isInline && !pointee.shape.isTravelling }

    /// Of a reaction that is not inline.
    @inline(__always)
    var executorElsewhere: ExecutorPointer? {
        executorOrSource.load(as: ExecutorPointer?.self)
    }

    /// Of an inline reaction: the promise that it reads, where no canceller writes while the reaction is on a
    /// thread's list. One with a token may be given something else to read: its `upstream` tells.
    @inline(__always)
    var source: RecordPointer? {
        get { executorOrSource.load(as: RecordPointer?.self) }
        nonmutating set { executorOrSource.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// Of a withdrawn reaction: the promise that it read, owned, until its executor has dropped it. The handler
    /// is not needed any more, and lends its place.
    var withdrawnUpstream: RecordPointer? {
        get { handlerPlace.load(as: RecordPointer?.self) }
        nonmutating set { handlerPlace.storeBytes(of: newValue, as: RecordPointer?.self) }
    }

    /// Of a `finally` that waits for its handler's promise: the promise whose outcome is passed on, owned. In the same
    /// place.
    var outcome: RecordPointer? {
        get { withdrawnUpstream }
        nonmutating set { withdrawnUpstream = newValue }
    }

    /// Of a reaction that waits for what it follows though it is cancelled and others read that: the error that it is to be
    /// rejected with, owned. In the same place; marked by `RecordFlag.hasLeft`.
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

/// What `vow_then_with` adds.
struct LinkExtras {
    var onRejected: Handler?
    var destroy: Destroy?
    var label: UnsafePointer<CChar>?
}

/// What a token or a context adds to those.
struct TravelPart {
    /// Its token's list; the source is counted here until the reaction leaves it.
    var registration: Registration
    /// The end of the scope that the reaction was made under; one producer's reference.
    var scope: RecordPointer?
    /// The context to run with; owned.
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
    /// Of a link, borrowed; nil: it carries nothing.
    var surroundings: Surroundings? {
        if !pointee.shape.isTravelling { return nil }
        return Surroundings(context: travel.pointee.context, scope: travel.pointee.scope)
    }
}

/// What reactions carry along.
struct Surroundings {
    /// Marked where there is a scope.
    var context = vow_none()
    /// The promise of its end.
    var scope: RecordPointer?

    /// In a context's reserved word, whose other bits say which Swift type a small value is of.
    static let scopeMark: UInt32 = 1 << 31
}

// MARK: The counts
//
// The references to a promise: three counts in one word, so that "nobody else" is one look.
//
// A reader can learn of the outcome: a handle, a reaction or a follower. When the last reader goes the producer hears that
// its work is not wanted any more. A producer may settle the promise: a resolver's handle, or the queue or executor that
// holds a reaction. A visitor only passes: a thread that walks along a path of promises, or cancels one. A visitor keeps the
// memory, and says nothing about whether the promise is wanted: a thread that asks that must not be told of a visitor that
// leaves the next moment.

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
