// What each thread carries: work that its calls have made ready, and what it is doing right now.

import CVow
import CVowPlatform

typealias ThreadPointer = UnsafeMutablePointer<ThreadState>

/// Starts as zeroes, so every field's zero must mean "nothing".
struct ThreadState: ~Copyable {
    /// First, because the platform floor finds it there.
    var cell: ThreadCell
    /// Members taken from settled promises, on the way to their executors.
    var handOver: MemberList
    /// Inline reactions and subscriptions, to run when no foreign code is on the stack.
    var ready: MemberList
    /// Objects to free, linked through their counts.
    var dead: UInt64
    /// The innermost handler that runs on this thread.
    var frame: UnsafeMutablePointer<Frame>?
    /// The serial executor whose drain is on the stack.
    var draining: ExecutorPointer?
    /// How much foreign code (handlers, destructors, hooks, executors) is on the stack.
    var foreignDepth: Int32
    var isHandingOver: Bool
    var isReclaiming: Bool
    /// A custom executor's `submit` is on the stack.
    var isSubmitting: Bool
    /// The pool's handler has returned and its result is being settled: one successor may stay here.
    var mayKeepSuccessor: Bool
    /// The reaction that stayed, and how many have in a row.
    var successor: RecordPointer?
    var successorsInARow: Int32
}

/// A handler that is running: which, and where.
struct Frame {
    let reaction: RecordPointer
    let executor: ExecutorPointer?
    let outer: UnsafeMutablePointer<Frame>?
}

/// Every exported function that may allocate, settle or run anything begins here.
@inline(__always)
func currentThread() -> ThreadPointer {
    let thread = vow_platform_thread().assumingMemoryBound(to: ThreadState.self)
    if !thread.pointee.cell.hasEntered { enterThread(start: startCore) }
    return thread
}

/// And every outermost one ends here: inline handlers run as its last act.
@inline(__always)
func leave(_ thread: ThreadPointer) {
    if thread.pointee.foreignDepth == 0 && !thread.pointee.ready.isEmpty { runReady(thread) }
}

@inline(__always)
func runForeign<Result>(_ thread: ThreadPointer, _ body: () -> Result) -> Result {
    thread.pointee.foreignDepth += 1
    defer { thread.pointee.foreignDepth -= 1 }
    return body()
}

/// Runs once, before the first thread has entered.
private func startCore() {
    if MemoryLayout<ThreadState>.size > VOW_THREAD_STORAGE_SIZE {
        fatal("a thread's storage is too small for its state")
    }
    #if !VOW_CHECKED
        if MemoryLayout<Record>.size != 40 || MemoryLayout<LinkPart>.size != 24 {
            fatal("a promise does not have the size it is meant to have")
        }
    #endif
    var storage = vow_platform_static()!
    prepareOwnErrors(&storage)
    prepareOwnPromises(&storage)
    prepareOwnExecutors(&storage)
    watchForks(before: holdLocks, inParent: letLocksGo, inChild: beginAsChild)
}

private func holdLocks() { threadRegistryLock.lock() }

private func letLocksGo() { threadRegistryLock.unlock() }

private func beginAsChild() {
    forkedFlag.storeRelaxed(1)
    forgetOtherThreads()
    threadRegistryLock.unlock()
    // Whoever held one of these is not here any more.
    unhandledReporterLock.unlock()
    executorDirectoryLock.unlock()
    blockedOwnersLock.unlock()
}
