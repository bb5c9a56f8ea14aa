// The memory of an executor.

import CVow

typealias ExecutorPointer = UnsafeMutablePointer<ExecutorRecord>

enum ExecutorKind: UInt8 {
    /// The settling thread itself.
    case inline
    /// libdispatch's global queue, through our own queue of ready work.
    case pool
    /// A serial dispatch queue: work is handed over in batches.
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
    /// Of the serial and loop kinds: work taken by the drain, which alone touches it, through the pointer's `batch`.
    private var batchStorage = MemberList()
    /// References by handles, by reactions, and by a drain under way. Immortal ones are not counted.
    let counts = AtomicWord(1)
    let kind: ExecutorKind
    let isImmortal: Bool
    /// One handler at a time: a wait on its thread for its own work cannot end.
    let isSerial: Bool

    /// Of the serial, dispatch and barrier kinds. The main queue is looked up when it is needed, so that
    /// a program without libdispatch's main queue never touches it.
    var queue: WorkQueue?

    /// Of the custom kind; of the loop kind, `context` is the loop.
    var cls: UnsafePointer<vow_executor_class>?
    var context: UnsafeMutableRawPointer?
    /// Neighbours in the directory: custom executors that can tell whether a thread is theirs, and the
    /// serial ones on queues of the program. Touched under the directory's lock.
    var isListed = false
    var nextListed: ExecutorPointer?
    var previousListed: ExecutorPointer?

    /// Of the serial and loop kinds: work that was handed over and not yet taken, newest first; bit 0: a
    /// drain is on its way or running.
    let intake = AtomicWord(0)
    #if VOW_CHECKED
        var seal = Seal.live
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
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: MemberList.self)
    }
}
