// Setting and stopping timers, on the clock of the calling thread.

import CVowPlatform

/// The time of the calling thread's clock.
func clockNow(_ thread: ThreadPointer) -> Int64 {
    withClock(thread) { clock in
        if clock == processClock { return monotonicNow() }
        return withStripe(clock.pointee.stripe) { clock.pointee.now }
    }
}

enum TimerStart {
    case started
    /// In a forked child or after the shutdown, or a loop that is the parent's.
    case refused
    case noMemory
}

/// Sets a timer (in no heap) to so many nanoseconds from now, not negative. It may fire before this returns.
func startTimer(_ node: TimerPointer, after delay: Int64, _ thread: ThreadPointer) -> TimerStart {
    startTimer(node, thread) { moment(delay, after: $0) }
}

/// The same, to a moment of the time that `clockNow` tells.
func startTimer(_ node: TimerPointer, at moment: Int64, _ thread: ThreadPointer) -> TimerStart {
    startTimer(node, thread) { _ in moment }
}

private func startTimer(
    _ node: TimerPointer, _ thread: ThreadPointer, _ moment: (Int64) -> Int64
) -> TimerStart {
    withClock(thread) { startTimer(node, on: $0, thread, moment) }
}

private func startTimer(
    _ node: TimerPointer, on clock: ClockPointer, _ thread: ThreadPointer,
    _ moment: (Int64) -> Int64
) -> TimerStart {
    if clock == processClock && refusesWork { return .refused }
    if clock == processClock && !prepareKeeper(thread) { return .noMemory }
    let stripe = clock.pointee.stripe
    return withStripe(stripe) {
        if clock.pointee.isClosed { return .refused }
        node.pointee.stripe = stripe
        node.pointee.clock = clock
        clock.pointee.add(node, at: moment(clock.pointee.now))
        return .started
    }
}

/// The same on a loop's clock (nil: the process's), from any thread.
func startTimer(
    _ node: TimerPointer, after delay: Int64, of loop: LoopPointer?, _ thread: ThreadPointer
) -> TimerStart {
    let clock: ClockPointer = loop?.pointee.clock ?? processClock
    let start = startTimer(node, on: clock, thread) { moment(delay, after: $0) }
    // A virtual clock is moved to it by its runner, who may sleep because there was none.
    if let loop { vow_platform_raise(loop.pointee.event) }
    return start
}

/// Time ends at `Int64.max`.
func moment(_ delay: Int64, after now: Int64) -> Int64 {
    let (sum, overflow) = now.addingReportingOverflow(delay)
    return overflow ? Int64.max : sum
}

/// True: it was set and will never fire. False: it has fired, or is about to.
func stopTimer(_ node: TimerPointer) -> Bool {
    // Written before the timer was started, and not changed afterwards.
    withStripe(node.pointee.stripe) {
        guard let clock = node.pointee.clock else { return false }
        clock.pointee.remove(node)
        return true
    }
}

/// The clock of the thread's loop, else the process's.
func withClock<Result>(_ thread: ThreadPointer, _ body: (ClockPointer) -> Result) -> Result {
    guard let loop = loopHere(thread) else { return body(processClock) }
    defer { loop.release(thread) }
    return body(loop.pointee.clock)
}
