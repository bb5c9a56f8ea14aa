// The memory of a promise, of a reaction (which is a promise fused with what resolves it), and of a
// waiting thread: one layout, so that a queue can hold all three.

import CVow

typealias RecordPointer = UnsafeMutablePointer<Record>
typealias Handler = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> vow_value
typealias Destroy = @convention(c) (UnsafeMutableRawPointer?) -> Void

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
    /// A thread that waits: not a promise, lives on a stack.
    static let waiter = Shape(rawValue: 32)
    /// Never freed, never counted.
    static let immortal = Shape(rawValue: 64)
    /// Stands between a thenable and the promise that follows it: running it means subscribing. The
    /// context of its `LinkPart` is the object's box.
    static let subscription = Shape(rawValue: 128)
}

/// Where a record stands on its way; written by whoever holds it alone at that time.
struct Progress: OptionSet {
    let rawValue: UInt8
    /// As a member: the last of the batch that its promise handed over.
    static let lastOfBatch = Progress(rawValue: 1)
    /// As a member: counted in `inlineLeft` of its promise.
    static let countedInline = Progress(rawValue: 2)
    /// As a follower: the outcome is already known (in `LinkPart.outcome`); only a rejection replaces it.
    static let outcomeIsHeld = Progress(rawValue: 8)
    /// As a reaction: its executor cannot run it any more.
    static let isRefused = Progress(rawValue: 16)
    /// The same, because its executor was shut down.
    static let isShutOut = Progress(rawValue: 32)
}

struct Record: ~Copyable {
    let state: PromiseState
    /// Low half: handles, and reactions that read this promise. High half: producers, that is resolver
    /// handles, or the queue or executor that holds this reaction. Freed when both are 0.
    let counts: AtomicWord
    let shape: Shape
    /// Read and written through the pointer's `progress`.
    private var progressStorage = Progress()
    /// Somebody learned, or will learn, of a rejection.
    let isObserved = AtomicMark()
    /// The queue may hold followers.
    let hasFollowers = AtomicMark()
    /// Read and written through the pointer's `inlineLeft`.
    private var inlineLeftStorage: UInt32 = 0
    /// The value once settled; before, the links of a member: see `next` and `upstream`.
    private var slot: (UInt64, UInt64) = (0, 0)
    #if VOW_CHECKED
        var seal = Seal.live
        var padding: UInt64 = 0
    #endif

    init(_ phase: Phase, shape: Shape, promises: UInt64, producers: UInt64) {
        state = PromiseState(phase)
        counts = AtomicWord(promises | producers << 32)
        self.shape = shape
    }
}

/// What a reaction adds to a record. 64 bytes together.
struct LinkPart {
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    var executor: ExecutorPointer?

    /// Of a `finally` that waits for its handler's promise: the promise whose outcome is passed on. The
    /// context is gone by then and lends its place.
    var outcome: RecordPointer? {
        get { context?.assumingMemoryBound(to: Record.self) }
        set { context = UnsafeMutableRawPointer(newValue) }
    }
}

/// What `vow_then_with` adds.
struct LinkExtras {
    var onRejected: Handler?
    var destroy: Destroy?
    var label: UnsafePointer<CChar>?
}

extension Shape {
    var recordSize: Int {
        if contains(.extras) {
            return MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size
                + MemoryLayout<LinkExtras>.size
        }
        if contains(.link) { return MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size }
        return MemoryLayout<Record>.size
    }
}

// Plain fields are reached by address and not through `pointee`: changing a field of a struct is an access
// to the whole struct, and other threads use its atomics meanwhile. `startCore` checks the addresses.

/// Where the fields of a record stand.
enum RecordOffset {
    static let progress = 17
    static let inlineLeft = 20
    static let slot = 24
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    private var slotAddress: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + RecordOffset.slot
    }

    @inline(__always)
    var progress: Progress {
        get { (UnsafeMutableRawPointer(self) + RecordOffset.progress).load(as: Progress.self) }
        nonmutating set {
            (UnsafeMutableRawPointer(self) + RecordOffset.progress)
                .storeBytes(of: newValue, as: Progress.self)
        }
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

    /// The value of a settled promise, borrowed.
    @inline(__always)
    var value: vow_value {
        get { slotAddress.load(as: vow_value.self) }
        nonmutating set { slotAddress.storeBytes(of: newValue, as: vow_value.self) }
    }

    /// The next member of the queue that this record stands in. The owner of that queue writes it.
    @inline(__always)
    var next: RecordPointer? {
        get { slotAddress.load(as: RecordPointer?.self) }
        nonmutating set { slotAddress.storeBytes(of: newValue, as: RecordPointer?.self) }
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
        it.progress = .outcomeIsHeld
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
        progressStorage == .outcomeIsHeld && inlineLeftStorage == 7
            && slot.1 == UInt64(UInt(bitPattern: upstream))
    }
}
