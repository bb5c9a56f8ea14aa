// The memory of a loop: freed with its executor, which each handle, run and reaction keeps.

import CVowPlatform

typealias LoopPointer = UnsafeMutablePointer<LoopRecord>

/// Every field that changes is atomic; what else changes is behind the pointers, or is the executor's batch,
/// which belongs to the thread that runs the loop.
struct LoopRecord: ~Copyable {
    let executor: ExecutorPointer
    /// Contains the two below and the watched descriptors; what `vow_loop_fd` says.
    let set: Int32
    /// Raised while there is work that the runner does not know of.
    let event: Int32
    let timer: Int32
    let isVirtual: Bool
    let clock: ClockPointer
    let watches: WatchTablePointer
    /// The thread that runs it; 0: none.
    let runner = AtomicWord(0)
    /// Asked to return. Set before the event is raised.
    let isWoken = AtomicWord(0)
    /// Destroyed.
    let isClosed = AtomicWord(0)
    /// In a forked child: its descriptors are the parent's, too.
    let isCopy = AtomicWord(0)
    /// The thread whose reactions come here, and the next loop of that thread. See `Homes`.
    let home = AtomicWord(0)
    let nextHome = AtomicWord(0)
    /// Neighbours in the list of all loops.
    let next = AtomicWord(0)
    let previous = AtomicWord(0)
    #if VOW_CHECKED
        var seal = Seal.live(.loop)
    #endif
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == LoopRecord {
    func retain() { pointee.executor.retain() }
    func release(_ thread: ThreadPointer) { pointee.executor.release(thread) }

    var isClosed: Bool { pointee.isClosed.loadRelaxed() != 0 }
    var isCopy: Bool { pointee.isCopy.loadRelaxed() != 0 }
    var isUsable: Bool { !isClosed && !isCopy }

    func isRun(by thread: ThreadPointer) -> Bool {
        pointee.runner.loadRelaxed() == word(of: thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ExecutorRecord {
    /// Of the loop kind.
    var loop: LoopPointer {
        guard let loop = pointee.context else { fatal("a loop's executor has no loop") }
        return loop.assumingMemoryBound(to: LoopRecord.self)
    }
}

func loop(in word: borrowing AtomicWord) -> LoopPointer? {
    LoopPointer(bitPattern: UInt(word.loadRelaxed()))
}
