// The memory of an executor, and the three executors that are always there: inline, pool, main.
//
// Those three are immortal and stand in static memory. An executor that the program makes is counted: handles, reactions
// and a drain under way have references to it.

import CVow
import CVowPlatform

typealias ExecutorPointer = UnsafeMutablePointer<ExecutorRecord>

enum ExecutorKind: UInt8 {
    /// The settling thread itself.
    case inline
    /// The pool of our own threads.
    case pool
    /// One handler at a time, by a drain in the pool, or on a serial dispatch queue: work is handed over in batches.
    case serial
    /// A dispatch queue of the program, one dispatch for each handler.
    case dispatch
    /// The same, each as a barrier.
    case barrier
    /// The program's own.
    case custom
    /// A thread that runs an event loop.
    case loop
}

struct ExecutorRecord: ~Copyable {
    /// Of serial ones on queues of the program: in the directory, by the queue.
    var place = TableMember()
    /// Of the serial and loop kinds: work taken by the drain, which alone touches it, through the pointer's `batch`.
    private var batchStorage = MemberList()
    /// References by handles, by reactions, and by a drain under way. Immortal ones are not counted.
    let counts = AtomicWord(1)
    let kind: ExecutorKind
    let isImmortal: Bool
    /// One handler at a time: a wait on its thread for its own work cannot end.
    let isSerial: Bool

    /// Of the dispatch and barrier kinds, and of serial ones on a queue of the program. The main queue is looked up when
    /// it is needed, so that a program without libdispatch's main queue never touches it.
    var queue: WorkQueue?

    /// Of the custom kind; of the loop kind, `context` is the loop.
    var cls: UnsafePointer<vow_executor_class>?
    var context: UnsafeMutableRawPointer?
    /// It stands in the directory; touched under its lock, like `place`.
    var isListed = false
    /// Its neighbours there, of a custom one that can tell whether a thread is its own.
    var nextListed: ExecutorPointer?
    var previousListed: ExecutorPointer?
    /// Of the custom kind: the threads that remember it as theirs; see `AmbientMemory`.
    var firstRemembering: UnsafeMutableRawPointer?

    /// Of the serial and loop kinds: work that was handed over and not yet taken, newest first; bit 0: a
    /// drain is on its way or running.
    let intake = AtomicWord(0)
    /// Of a serial one in the pool: the next in the list of drains that it stands in, and the size of its name, which
    /// stands behind the record.
    var nextDrain: ExecutorPointer?
    var nameSize = 0
    #if VOW_CHECKED
        var seal = Seal.live(.executor)
    #endif

    init(_ kind: ExecutorKind, isSerial: Bool, isImmortal: Bool, queue: WorkQueue? = nil) {
        self.kind = kind
        self.isSerial = isSerial
        self.isImmortal = isImmortal
        self.queue = queue
    }
}

extension ExecutorRecord {
    /// While one of its handlers runs, no other one does: a wait in it blocks them.
    var runsNothingBeside: Bool { isSerial || kind == .barrier }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ExecutorRecord {
    /// By address, like the plain fields of a record.
    @inline(__always)
    var batch: UnsafeMutablePointer<MemberList> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<TableMember>.stride)
            .assumingMemoryBound(to: MemberList.self)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ExecutorRecord {
    /// Of the custom kind, to be used.
    var checkedClass: UnsafePointer<vow_executor_class>? {
        let cls = pointee.cls
        #if VOW_CHECKED
            if let cls { classCopy.pointee.check(cls, of: "of an executor") }
        #endif
        return cls
    }

    #if VOW_CHECKED
        /// Of the custom kind, behind the record.
        var classCopy: UnsafeMutablePointer<ClassCopy> {
            UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: ClassCopy.self)
        }
    #endif

    /// Nil: none was given.
    var name: UnsafeMutablePointer<CChar>? {
        if pointee.nameSize == 0 { return nil }
        return (UnsafeMutableRawPointer(self) + MemoryLayout<ExecutorRecord>.stride)
            .assumingMemoryBound(to: CChar.self)
    }
}

/// Serial executors whose drains are to be run, first in first out.
struct DrainList {
    private var first: ExecutorPointer?
    private var last: ExecutorPointer?

    init() {}

    var isEmpty: Bool { first == nil }
    var hasOnlyOne: Bool { first != nil && first == last }

    mutating func append(_ executor: ExecutorPointer) {
        executor.pointee.nextDrain = nil
        if let last { last.pointee.nextDrain = executor } else { first = executor }
        last = executor
    }

    mutating func popFirst() -> ExecutorPointer? {
        guard let executor = first else { return nil }
        first = executor.pointee.nextDrain
        if first == nil { last = nil }
        return executor
    }
}

// MARK: The executors that are always there

/// At the beginning of the process's storage, so that each is a constant address: a global that holds it would be
/// loaded, and asked in the ordinary build whether it is being changed, at every link.
struct OwnExecutors {
    var inline: ExecutorPointer { place(0) }
    var pool: ExecutorPointer { place(1) }
    var main: ExecutorPointer { place(2) }

    private static let stride = (MemoryLayout<ExecutorRecord>.stride + 15) & ~15

    @inline(__always)
    private func place(_ index: Int) -> ExecutorPointer {
        (vow_platform_static() + index * OwnExecutors.stride)
            .assumingMemoryBound(to: ExecutorRecord.self)
    }

    fileprivate static let size = 3 * stride
}

let ownExecutors = OwnExecutors()

/// Whether somebody asked for the main executor: only then can a wait on the main thread block it.
let isMainExecutorUsed = AtomicMark()

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction: what runs it.
    @inline(__always)
    var executor: ExecutorPointer? { isInline ? ownExecutors.inline : executorElsewhere }
}

/// The first to take from the process's storage.
func prepareOwnExecutors(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ executor: ExecutorPointer, _ kind: ExecutorKind, isSerial: Bool) {
        executor.initialize(to: ExecutorRecord(kind, isSerial: isSerial, isImmortal: true))
    }
    make(ownExecutors.inline, .inline, isSerial: false)
    make(ownExecutors.pool, .pool, isSerial: false)
    make(ownExecutors.main, .serial, isSerial: true)
    storage += OwnExecutors.size
}
