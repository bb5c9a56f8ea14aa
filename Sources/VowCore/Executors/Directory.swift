// The executors that can be found again: custom ones that can tell whether a thread is theirs, and the
// serial ones on queues of the program.

import CVow

/// Under the lock, like the neighbours' fields. The count of ambient ones says without the lock that there
/// is nothing to look for.
private let directoryLock = SpinLock()
private let ambientCount = AtomicWord(0)
nonisolated(unsafe) private var firstListed: ExecutorPointer?

/// The custom executor that the thread belongs to, owned. Asks foreign code, so never under the lock.
@inline(__always)
func ambientExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    ambientCount.loadAcquire() == 0 ? nil : findAmbientExecutor(thread)
}

@inline(never)
private func findAmbientExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    var candidate = directoryLock.withLock { retainedExecutor(from: firstListed) { _ in true } }
    while let executor = candidate {
        if let current = executor.pointee.cls?.pointee.current,
            runForeign(thread, { current(executor.pointee.context) })
        {
            return executor
        }
        candidate = directoryLock.withLock {
            retainedExecutor(from: executor.pointee.nextListed) { _ in true }
        }
        executor.release(thread)
    }
    return nil
}

/// The executor that was made for a serial queue, owned.
func listedExecutor(on queue: WorkQueue) -> ExecutorPointer? {
    directoryLock.withLock {
        retainedExecutor(from: firstListed) { $0.pointee.queue == queue }
    }
}

/// Under the lock. One whose last reference is gone is on its way out of the list and passed over.
private func retainedExecutor(
    from start: ExecutorPointer?, where isWanted: (ExecutorPointer) -> Bool
) -> ExecutorPointer? {
    var candidate = start
    while let executor = candidate {
        if isWanted(executor) && retainUnlessDead(executor) { return executor }
        candidate = executor.pointee.nextListed
    }
    return nil
}

private func retainUnlessDead(_ executor: ExecutorPointer) -> Bool {
    while true {
        let counts = executor.pointee.counts.loadRelaxed()
        if counts == 0 { return false }
        if executor.pointee.counts.replaceAcquire(counts, counts + 1).exchanged { return true }
    }
}

/// Lists an executor on a serial queue of the program, unless there is one; returns that one then, owned.
func listUnlessKnown(_ executor: ExecutorPointer, on queue: WorkQueue) -> ExecutorPointer? {
    directoryLock.withLock {
        if let known = retainedExecutor(from: firstListed, where: { $0.pointee.queue == queue }) {
            return known
        }
        enter(executor)
        return nil
    }
}

func list(_ executor: ExecutorPointer) { directoryLock.withLock { enter(executor) } }

/// Under the lock.
private func enter(_ executor: ExecutorPointer) {
    executor.pointee.isListed = true
    executor.pointee.nextListed = firstListed
    firstListed?.pointee.previousListed = executor
    firstListed = executor
    if isAmbient(executor) { ambientCount.addAsOnlyWriter(1) }
}

func unlist(_ executor: ExecutorPointer) {
    directoryLock.withLock {
        let next = executor.pointee.nextListed
        let previous = executor.pointee.previousListed
        next?.pointee.previousListed = previous
        if let previous { previous.pointee.nextListed = next } else { firstListed = next }
        if isAmbient(executor) { ambientCount.addAsOnlyWriter(UInt64.max) }
    }
}

private func isAmbient(_ executor: ExecutorPointer) -> Bool {
    executor.pointee.cls?.pointee.current != nil
}

/// Around a fork.
func lockExecutorDirectory() { directoryLock.lock() }
func unlockExecutorDirectory() { directoryLock.unlock() }
