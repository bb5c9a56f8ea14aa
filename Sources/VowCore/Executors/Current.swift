// Which executor a reaction gets when it names none: the running handler's, else that of the loop or custom
// executor whose thread this is, else the default.

import CVow

/// The default, which `hasStandard` says without the lock that there is none.
private let standardLock = SpinLock()
private let hasStandard = AtomicWord(0)
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

private func executorOutsideHandlers(_ thread: ThreadPointer) -> ExecutorPointer {
    // A loop's reference is its executor's.
    homeLoop(thread)?.pointee.executor ?? ambientExecutor(thread) ?? standardExecutor()
}

private func standardExecutor() -> ExecutorPointer {
    if hasStandard.loadAcquire() == 0 { return ownExecutors.pool }
    return standardLock.withLock {
        let executor: ExecutorPointer = standard ?? ownExecutors.pool
        executor.retain()
        return executor
    }
}

/// - Parameter executor: borrowed, kept; nil: the pool.
func setStandardExecutor(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    executor?.retain()
    let before = standardLock.withLock {
        let before = standard
        standard = executor
        hasStandard.storeRelease(executor == nil ? 0 : 1)
        return before
    }
    before?.release(thread)
}

/// Around a fork.
func lockStandardExecutor() { standardLock.lock() }
func unlockStandardExecutor() { standardLock.unlock() }
