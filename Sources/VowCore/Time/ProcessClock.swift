// The clock of all threads that have no loop, on a libdispatch timer.

import CVowPlatform

/// Written once, before any thread has entered.
nonisolated(unsafe) private(set) var processClock: ClockPointer! = nil

/// Under the clock's lock. Made with the first timer, and kept.
nonisolated(unsafe) private var source: UnsafeMutableRawPointer?

/// Takes memory from the front of `storage`, which it moves on.
func prepareProcessClock(_ storage: inout UnsafeMutableRawPointer) {
    processClock = storage.bindMemory(to: Clock.self, capacity: 1)
    processClock.initialize(
        to: Clock(stripe: processStripe, descriptor: nil, isVirtual: false))
    storage += (MemoryLayout<Clock>.stride + 15) & ~15
}

/// Under the clock's lock. False: no memory.
func hasProcessTimer() -> Bool {
    if source == nil { source = vow_platform_make_timer_source(fireProcessTimers) }
    return source != nil
}

/// Under the clock's lock.
func armProcessTimer(_ moment: Int64) {
    guard let source, moment != Int64.max else { return }
    vow_platform_set_timer_source(source, max(moment &- monotonicNow(), 0))
}

/// On one of libdispatch's threads, and on one at a time.
private func fireProcessTimers(_: UnsafeMutableRawPointer?) {
    let thread = currentThread()
    withStripe(processStripe) { processClock.pointee.hasGoneOff() }
    let moment = monotonicNow()
    while let node = withStripe(processStripe, { processClock.pointee.takeDue(at: moment) }) {
        node.pointee.fire(node, .due, thread)
        leave(thread)
    }
    withStripe(processStripe) { processClock.pointee.armNow() }
}
