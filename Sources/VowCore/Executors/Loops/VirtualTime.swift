// The clock of a virtual loop: it stands still until it is moved.

import CVow

enum ClockMove {
    case moved
    /// The next timer is later: the clock has been moved to the limit.
    case isTooLate
    /// There is no timer.
    case none
}

/// The runner's, when nothing is ready.
func moveToNextTimer(of loop: LoopPointer, before limit: Int64) -> ClockMove {
    let clock = loop.pointee.clock
    return withStripe(clock.pointee.stripe) {
        guard let next = clock.pointee.heap.first?.pointee.deadline else { return .none }
        clock.pointee.virtualNow = max(clock.pointee.now, min(next, limit))
        return next > limit ? .isTooLate : .moved
    }
}

/// What `vow_loop_advance` answers.
func advance(_ loop: LoopPointer, by nanoseconds: Int64, _ thread: ThreadPointer) -> Int32 {
    whileRunning(loop, thread) { advanceAsRunner(loop, by: nanoseconds, thread) } ?? VOW_EINVAL
}

private func advanceAsRunner(
    _ loop: LoopPointer, by nanoseconds: Int64, _ thread: ThreadPointer
) -> Int32 {
    let clock = loop.pointee.clock
    let stripe = clock.pointee.stripe
    let (sum, overflow) = withStripe(stripe) { clock.pointee.now }
        .addingReportingOverflow(nanoseconds)
    let end = overflow ? Int64.max : sum
    var ran = 0
    while loop.isUsable {
        if thread.pointee.foreignDepth > 0 && !hasStackLeft() { return VOW_EDEADLOCK }
        if !drainInsideWait(thread) { return VOW_EDEADLOCK }
        let now = runReady(loop, thread) { false }
        ran += now
        if now > 0 { continue }
        if !loop.isUsable { break }
        if case .moved = moveToNextTimer(of: loop, before: end) { continue }
        withStripe(stripe) { clock.pointee.virtualNow = max(clock.pointee.now, end) }
        return Int32(clamping: ran)
    }
    return loop.isClosed ? VOW_ESHUTDOWN : VOW_EFORKED
}
