// The first call of the program in the library, on whatever thread.

import CVow
import CVowPlatform

/// Runs once, before the first thread has entered.
func startCore() {
    let isTooLarge =
        MemoryLayout<ThreadCell>.size > ThreadCell.spares
        || ThreadCell.spares + MemoryLayout<SpareMemory>.size > ThreadCell.rest
        || ThreadCell.rest + MemoryLayout<ThreadState>.size > VOW_THREAD_STORAGE_SIZE
    if isTooLarge {
        fatal("a thread's storage is too small for its state")
    }
    checkRecordLayout()
    vow_platform_begin_copy()
    var storage = vow_platform_static()!
    prepareOwnExecutors(&storage)
    prepareOwnErrors(&storage)
    prepareOwnPromises(&storage)
    prepareStripes(&storage)
    prepareWaitingThreads(&storage)
    prepareListeners(&storage)
    prepareExecutorDirectory(&storage)
    prepareProcessClock(&storage)
    prepareProcessWatches(&storage)
    if storage > vow_platform_static()! + Int(VOW_STATIC_STORAGE_SIZE) {
        fatal("the process's storage is too small")
    }
    beforeThreadLeaves = {
        guard let thread = enteredThread() else { return }
        leaveHomes(thread)
        setContext(vow_none(), thread)
        // Last: a destructor may have asked.
        forgetAmbient(thread)
    }
    watchForks(before: holdLocks, inParent: letLocksGo, inChild: beginAsChild)
    traceAsEnvironmentSays()
}
