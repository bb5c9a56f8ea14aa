// The life of the library in its process: the first call of the program, on any thread; a fork; the end.
//
// A fork holds all global locks, so that the child finds whole lists behind them; the parent's other threads are not in the
// child. At the end of the library's work no new work is taken, queued work runs, and the rest is rejected.

import CVow
import CVowPlatform

// MARK: The first call

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
        // Last: a destructor may have asked for the ambient executor.
        forgetAmbient(thread)
    }
    watchForks(before: holdLocks, inParent: letLocksGo, inChild: beginAsChild)
    traceAsEnvironmentSays()
}

// MARK: A fork

func holdLocks() {
    closeSiteGate()
    threadRegistryLock.lock()
    lockLoops()
    lockStripes()
    lockWaitingThreads()
    lockPool()
    lockStandardExecutor()
    lockExecutorDirectory()
    unhandledReporterLock.lock()
    listenersLock.lock()
    lockDescents()
    lockTrace()
    lockFreedMemory()
    vow_platform_lock_stacks()
}

func letLocksGo() {
    vow_platform_unlock_stacks()
    unlockFreedMemory()
    unlockTrace()
    unlockDescents()
    listenersLock.unlock()
    unhandledReporterLock.unlock()
    unlockExecutorDirectory()
    unlockStandardExecutor()
    unlockPool()
    unlockWaitingThreads()
    unlockStripes()
    unlockLoops()
    threadRegistryLock.unlock()
    openSiteGate()
}

func beginAsChild() {
    forkedFlag.storeRelaxed(1)
    refusalFlag.storeRelaxed(1)
    forgetOtherThreads()
    forgetDescents()
    // The thread may never have entered, and must not now: the registry is locked.
    forgetWaitingThreads(but: enteredThread())
    forgetAmbientsOfOthers(but: enteredThread())
    turnLoopsIntoCopies(but: enteredThread())
    turnProcessWatchesIntoCopy()
    forgetTrace()
    forgetReports()
    letLocksGo()
    forgetSiteGate()
}

// MARK: The end

/// Nanoseconds between two looks. The awaited state is rare and short, so it is polled.
private let betweenLooks: Int64 = 500_000

/// Returns the number of live promises, or VOW_EDEADLOCK.
func shutDown(until deadline: Deadline, _ thread: ThreadPointer) -> Int64 {
    if isDoingWork(thread) { return Int64(VOW_EDEADLOCK) }
    refusalFlag.storeRelease(1)
    vow_platform_let_threads_end()
    // In a forked child the queued work stays with the parent.
    var looks = isForkedChild ? 2 : 0
    while looks < 2 && !deadline.hasPassed && !isHoldingUpMain() {
        // Twice: a thread may have passed the flag before it was set.
        looks = isDrained() ? looks + 1 : 0
        vow_platform_pause(betweenLooks)
    }
    refusePooled(.shutDown, thread)
    closePool()
    closeClock(processClock, thread)
    closeProcessWatches(thread)
    leave(thread)
    _ = giveSpareMemoryBack()
    writeSumOfReports()
    let sums = sumCounters()
    return Int64(bitPattern: sums.promisesMade &- sums.promisesFreed)
}

/// The sum of the ended work is taken first: work that has ended was given before.
private func isDrained() -> Bool {
    let ended = sumCounters().workEnded
    return ended == sumCounters().workGiven
}

/// Work queued for the main thread cannot run while that thread is here.
private func isHoldingUpMain() -> Bool {
    isMainExecutorUsed.isSet && vow_platform_is_main_thread() != 0
        && ownExecutors.main.pointee.intake.loadRelaxed() != 0
}

/// Whether the thread does work whose end the shutdown would wait for.
private func isDoingWork(_ thread: ThreadPointer) -> Bool {
    var place = thread.pointee.place
    while let current = place {
        switch current.pointee.executor.pointee.kind {
        case .pool, .serial, .dispatch, .barrier: return true
        case .inline, .custom, .loop: place = current.pointee.outer
        }
    }
    return false
}
