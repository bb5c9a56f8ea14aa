// Which executor a reaction gets when it names none: the running handler's, else that of the loop or custom
// executor whose thread this is, else the default.

import CVow

/// The default. Without the lock, `shortcut` is the address of one that lives for ever, or 0 for the pool, or
/// `noShortcut`; that also before anybody has asked.
private let standardLock = SpinLock()
private let shortcut = AtomicWord(noShortcut)
private let noShortcut: UInt64 = 1
nonisolated(unsafe) private var standard: ExecutorPointer?

/// Owned by the reaction.
@inline(__always)
func executorForReaction(_ named: ExecutorPointer?, _ thread: ThreadPointer) -> ExecutorPointer {
    if let executor = named ?? thread.pointee.frame?.pointee.executor {
        executor.retain()
        return executor
    }
    return executorOutsideHandlers(thread)
}

@inline(__always)
private func executorOutsideHandlers(_ thread: ThreadPointer) -> ExecutorPointer {
    // A loop's reference is its executor's.
    homeLoop(thread)?.pointee.executor ?? ambientExecutor(thread) ?? standardExecutor(thread)
}

@inline(__always)
private func standardExecutor(_ thread: ThreadPointer) -> ExecutorPointer {
    let word = shortcut.loadAcquire()
    if word == noShortcut { return standardExecutorSlowly(thread) }
    return ExecutorPointer(bitPattern: UInt(word)) ?? ownExecutors.pool
}

@inline(never)
private func standardExecutorSlowly(_ thread: ThreadPointer) -> ExecutorPointer {
    prepareWorkers(thread)
    return standardLock.withLock {
        if standard == nil && hasWorkers { shortcut.storeRelease(wayTo(nil)) }
        let executor: ExecutorPointer = standard ?? ownExecutors.pool
        executor.retain()
        return executor
    }
}

/// - Parameter executor: borrowed, kept; nil: the pool.
func setStandardExecutor(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    executor?.retain()
    if executor == nil { prepareWorkers(thread) }
    let before = standardLock.withLock {
        let before = standard
        standard = executor
        shortcut.storeRelease(wayTo(executor))
        return before
    }
    before?.release(thread)
}

private func wayTo(_ executor: ExecutorPointer?) -> UInt64 {
    guard let executor else { return 0 }
    return executor.pointee.isImmortal ? UInt64(UInt(bitPattern: executor)) : noShortcut
}

/// Around a fork.
func lockStandardExecutor() { standardLock.lock() }
func unlockStandardExecutor() { standardLock.unlock() }
