// The memory of an executor, and the three that are always there: inline, pool, main. These are immortal, in static memory. An
// executor of the program is counted: handles, reactions and a drain under way have references.
//
//   batch                           the drain, or the runner of the loop; at most one exists
//   intake                          any thread, by one compare-and-exchange
//   place, the list fields          the directory's lock
//   nextDrain                       the pool's lock
//   all else                        constant

import CVow
import CVowPlatform

typealias ExecutorPointer = UnsafeMutablePointer<ExecutorRecord>

enum ExecutorKind: UInt8 {
    /// Runs on the settling thread.
    case inline
    case pool
    /// One handler at a time, by a drain in the pool or on a serial dispatch queue: work is handed over in batches.
    case serial
    /// A dispatch queue of the program, one dispatch for each handler.
    case dispatch
    /// Likewise, each handler as a barrier.
    case barrier
    /// The program's own.
    case custom
    case loop
}

struct ExecutorRecord: ~Copyable {
    /// In the directory, by the queue: a serial executor on a queue of the program.
    var place = TableMember()
    /// Work of a serial executor or loop that the drain has taken: see the pointer's `batch`.
    private var batchStorage = MemberList()
    /// References. Immortal executors are not counted; 0 tells the directory's readers that the executor is being freed.
    let counts = AtomicWord(1)
    let kind: ExecutorKind
    let isImmortal: Bool
    /// One handler at a time: a wait on its thread for its own work cannot end.
    let isSerial: Bool

    /// For dispatch, barrier, and serial on a queue of the program. The main queue is looked up when it is needed, so that a
    /// program without libdispatch's main queue never touches it.
    var queue: WorkQueue?

    /// For custom executors; a loop's `context` is the loop.
    var cls: UnsafePointer<vow_executor_class>?
    var context: UnsafeMutableRawPointer?
    var isListed = false
    /// Neighbours there of a custom executor that can tell whether a thread is its own.
    var nextListed: ExecutorPointer?
    var previousListed: ExecutorPointer?
    /// The threads that remember this custom executor as theirs: see `AmbientMemory`.
    var firstRemembering: UnsafeMutableRawPointer?

    /// For serial and loop: work that the drain has not taken, newest first. Bit 0: a drain is on its way or running.
    let intake = AtomicWord(0)
    /// For serial in the pool: the next in the list of drains, and the size of the name behind the record.
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
    /// While one of its handlers runs, no other does, so a wait in it blocks them.
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
    /// The class of a custom executor; in a checked build, checked to be still there.
    var checkedClass: UnsafePointer<vow_executor_class>? {
        let cls = pointee.cls
        #if VOW_CHECKED
            if let cls { classCopy.pointee.check(cls, of: "of an executor") }
        #endif
        return cls
    }

    #if VOW_CHECKED
        /// For a custom executor, behind the record.
        var classCopy: UnsafeMutablePointer<ClassCopy> {
            UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: ClassCopy.self)
        }
    #endif

    var name: UnsafeMutablePointer<CChar>? {
        if pointee.nameSize == 0 { return nil }
        return (UnsafeMutableRawPointer(self) + MemoryLayout<ExecutorRecord>.stride)
            .assumingMemoryBound(to: CChar.self)
    }
}

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

/// At the beginning of the process's storage, so that each is a constant address: a global would be loaded, and asked in the
/// ordinary build whether it is being changed, at every link.
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

/// Only a used main executor can be blocked by a wait on the main thread.
let isMainExecutorUsed = AtomicMark()

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    @inline(__always)
    var executor: ExecutorPointer? { isInline ? ownExecutors.inline : executorElsewhere }
}

/// Takes the first piece of the process's storage.
func prepareOwnExecutors(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ executor: ExecutorPointer, _ kind: ExecutorKind, isSerial: Bool) {
        executor.initialize(to: ExecutorRecord(kind, isSerial: isSerial, isImmortal: true))
    }
    make(ownExecutors.inline, .inline, isSerial: false)
    make(ownExecutors.pool, .pool, isSerial: false)
    make(ownExecutors.main, .serial, isSerial: true)
    storage += OwnExecutors.size
}
