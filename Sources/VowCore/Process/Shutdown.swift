// The end of the library's work in the process: nothing new, what is queued runs, the rest is rejected.

import CVow
import CVowPlatform

/// What is looked for is rare and short, so it is looked for now and then, in nanoseconds.
private let betweenLooks: Int64 = 500_000

/// Returns how many promises are still alive, or VOW_EDEADLOCK.
func shutDown(until deadline: Deadline, _ thread: ThreadPointer) -> Int64 {
    if isDoingWork(thread) { return Int64(VOW_EDEADLOCK) }
    refusalFlag.storeRelease(1)
    vow_platform_let_threads_end()
    // In a forked child what was queued stays with the parent.
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

/// The sums are taken one after the other: what has ended was given before.
private func isDrained() -> Bool {
    let ended = sumCounters().workEnded
    return ended == sumCounters().workGiven
}

/// What is queued for the main thread cannot run while that is here.
private func isHoldingUpMain() -> Bool {
    isMainExecutorUsed.isSet && vow_platform_is_main_thread() != 0
        && ownExecutors.main.pointee.intake.loadRelaxed() != 0
}

/// It would wait for itself.
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
