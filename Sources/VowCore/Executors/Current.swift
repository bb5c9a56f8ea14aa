// Which executor a reaction gets when it names none: the running handler's, else that of a custom
// executor whose thread this is, else the default.

import CVow

/// Custom executors that can tell whether a thread is theirs, and the default; all under the lock.
struct ExecutorDirectory {
    var firstAmbient: ExecutorPointer?
    var standard: ExecutorPointer?
}

/// Say without the lock that there is nothing to look for.
private let ambientCount = AtomicWord(0)
private let hasStandard = AtomicWord(0)

let executorDirectoryLock = SpinLock()
nonisolated(unsafe) private var executorDirectory = ExecutorDirectory()

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
    ambientExecutor(thread) ?? standardExecutor()
}

/// The custom executor that the thread belongs to, owned. Asks foreign code, so never under the lock.
func ambientExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    if ambientCount.loadAcquire() == 0 { return nil }
    var candidate = executorDirectoryLock.withLock { retained(executorDirectory.firstAmbient) }
    while let executor = candidate {
        if let current = executor.pointee.cls?.pointee.current,
            runForeign(thread, { current(executor.pointee.context) })
        {
            return executor
        }
        candidate = executorDirectoryLock.withLock { retained(executor.pointee.nextAmbient) }
        executor.release(thread)
    }
    return nil
}

/// Nil when the executor is on its way out: its last reference is gone and it waits for the lock.
private func retained(_ executor: ExecutorPointer?) -> ExecutorPointer? {
    var candidate = executor
    while let executor = candidate {
        let counts = executor.pointee.counts.loadRelaxed()
        if counts == 0 {
            candidate = executor.pointee.nextAmbient
        } else if executor.pointee.counts.replaceAcquire(counts, counts + 1).exchanged {
            return executor
        }
    }
    return nil
}

private func standardExecutor() -> ExecutorPointer {
    if hasStandard.loadAcquire() == 0 { return ownExecutors.pool }
    return executorDirectoryLock.withLock {
        let executor: ExecutorPointer = executorDirectory.standard ?? ownExecutors.pool
        executor.retain()
        return executor
    }
}

/// - Parameter executor: borrowed, kept; nil: the pool.
func setStandardExecutor(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    executor?.retain()
    let before = executorDirectoryLock.withLock {
        let before = executorDirectory.standard
        executorDirectory.standard = executor
        hasStandard.storeRelease(executor == nil ? 0 : 1)
        return before
    }
    before?.release(thread)
}

func addAmbient(_ executor: ExecutorPointer) {
    executorDirectoryLock.withLock {
        executor.pointee.nextAmbient = executorDirectory.firstAmbient
        executorDirectory.firstAmbient?.pointee.previousAmbient = executor
        executorDirectory.firstAmbient = executor
        ambientCount.addAsOnlyWriter(1)
    }
}

func removeAmbient(_ executor: ExecutorPointer) {
    executorDirectoryLock.withLock {
        let next = executor.pointee.nextAmbient
        let previous = executor.pointee.previousAmbient
        next?.pointee.previousAmbient = previous
        if let previous { previous.pointee.nextAmbient = next } else { executorDirectory.firstAmbient = next }
        ambientCount.addAsOnlyWriter(UInt64.max)
    }
}
