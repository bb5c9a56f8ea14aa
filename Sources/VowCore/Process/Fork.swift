// What a fork takes along: whole lists, and nothing of the parent's other threads.

/// All global locks are held across a fork, so that the child finds whole lists behind them.
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
}

func letLocksGo() {
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
    // It may never have entered, and must not now: the registry is locked.
    forgetWaitingThreads(but: enteredThread())
    forgetAmbientsOfOthers(but: enteredThread())
    turnLoopsIntoCopies(but: enteredThread())
    turnProcessWatchesIntoCopy()
    forgetTrace()
    forgetReports()
    letLocksGo()
    forgetSiteGate()
}
