// Where a thread waits: which executors its wait blocks, and whether it takes up a worker of the pool.

import CVow
import CVowPlatform

struct WaitingPlace: ~Copyable {
    /// In a handler, or in other work of an executor.
    let isInsideWork: Bool
    /// In work of the pool, and not of a serial executor alone.
    let isInPool: Bool
    /// The pool's, if the thread is one: it lends its place. In a forked child there is no pool to lend a place in.
    let worker: WorkerPointer?
    /// The wait blocks an executor that runs nothing else meanwhile.
    let blocksItself: Bool
    private let blocksMain: Bool
    /// The custom serial executor that the thread belongs to, though outside of its work; owned by who waits.
    let ambient: ExecutorPointer?
    /// Of the loop that the thread runs while it waits.
    private let running: ExecutorPointer?
    /// The work that the wait is part of; what the thread does inside the wait is not.
    private let innermost: UnsafeMutablePointer<Place>?

    /// - Parameter ambient: the custom executor that the thread says it belongs to; consumed.
    init(_ thread: ThreadPointer, running: ExecutorPointer?, ambient: ExecutorPointer?) {
        self.running = running
        let innermost = thread.pointee.place
        self.innermost = innermost
        isInsideWork = thread.pointee.frame != nil || innermost != nil
        isInPool = !isForkedChild && anyPlace(from: innermost) { $0.pointee.kind == .pool }
        worker = isForkedChild ? nil : thread.pointee.worker
        blocksMain = isMainExecutorUsed.isSet && vow_platform_is_main_thread() != 0
        self.ambient = ambient
        blocksItself =
            blocksMain || ambient != nil
            || anyPlace(from: innermost) { $0.pointee.runsNothingBeside && $0 != running }
    }

    /// The executors that it blocks, a bit for each, which others may share.
    var blockedSet: UInt64 {
        if !blocksItself { return 0 }
        var bits = ambient.map { bit(of: $0) } ?? 0
        if blocksMain { bits |= bit(of: ownExecutors.main) }
        _ = anyPlace(from: innermost) {
            if $0.pointee.runsNothingBeside && $0 != running { bits |= bit(of: $0) }
            return false
        }
        return bits
    }

    /// Whether what the executor runs has to wait for this thread. The executor may be gone already: its
    /// address is compared, and what is looked at is the thread's. Any thread may ask while this one waits.
    func blocks(_ executor: ExecutorPointer?) -> Bool {
        guard let executor, blocksItself, executor != running else { return false }
        if blocksMain && executor == ownExecutors.main { return true }
        if executor == ambient { return true }
        return anyPlace(from: innermost) { $0 == executor && $0.pointee.runsNothingBeside }
    }
}

/// An executor's bit in such a set.
func bit(of executor: ExecutorPointer) -> UInt64 {
    #if VOW_SCHEDULES
        // The same in each execution, as addresses are not.
        return 1 << UInt64(executor.pointee.kind.rawValue)
    #else
        return 1 << (hashOfAddress(executor) >> 58)
    #endif
}

/// Whether the handler of a reaction is on the thread's stack.
func isRunning(_ reaction: RecordPointer, _ thread: ThreadPointer) -> Bool {
    var frame = thread.pointee.frame
    while let current = frame {
        if current.pointee.reaction == reaction { return true }
        frame = current.pointee.outer
    }
    return false
}

private func anyPlace(
    from innermost: UnsafeMutablePointer<Place>?, _ matches: (ExecutorPointer) -> Bool
) -> Bool {
    var place = innermost
    while let current = place {
        if matches(current.pointee.executor) { return true }
        place = current.pointee.outer
    }
    return false
}
