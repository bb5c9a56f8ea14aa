// The end of a loop: everything that is in it is rejected, before the call returns.

import CVowPlatform

/// - Parameter loop: the handle's reference, consumed.
func destroyLoop(_ loop: LoopPointer, _ thread: ThreadPointer) {
    if loop.pointee.isClosed.exchangeAcquireRelease(1) != 0 { return }
    withdrawLoop(loop)
    let isBatchWhole = waitForRunner(of: loop, thread)
    // Everything is rejected before foreign code hears of it, which might wait for any of it.
    asOneStep(thread) {
        closeQueue(of: loop.pointee.executor, isBatchWhole: isBatchWhole, thread)
        closeClock(loop.pointee.clock, thread)
        closeWatches(loop.pointee.watches, thread)
    }
    // In a context's destructor, those of the queue were put aside.
    drainSkipped(thread)
    leave(thread)
    // Nobody arms or watches any more. The event stays for those who have just added something.
    vow_platform_close(loop.pointee.set)
    vow_platform_close(loop.pointee.timer)
    loop.release(thread)
}

/// No other thread may be running it; one that does nevertheless is told to stop. In a forked child such a
/// thread is gone, perhaps in the middle of something: false.
private func waitForRunner(of loop: LoopPointer, _ thread: ThreadPointer) -> Bool {
    if loop.isRun(by: thread) { return true }
    if loop.isCopy { return loop.pointee.runner.loadAcquire() == 0 }
    var pause = Backoff()
    while loop.pointee.runner.loadAcquire() != 0 {
        vow_platform_raise(loop.pointee.event)
        pause.wait()
    }
    return true
}

func closeClock(_ clock: ClockPointer, _ thread: ThreadPointer) {
    let stripe = clock.pointee.stripe
    withStripe(stripe) { clock.pointee.isClosed = true }
    while let node = withStripe(stripe, { clock.pointee.takeDue(at: Int64.max) }) {
        node.pointee.fire(node, .shutDown, thread)
    }
}
