// The clock of all threads that have no loop, on libdispatch timers.
//
// One timer at a time is taken and settled, so timers settle in order. What that calls may be slow, or wait for a later
// timer: before it begins, another source is set to go on with those, after a moment's patience.

import CVowPlatform

/// Written once, before any thread has entered.
nonisolated(unsafe) private(set) var processClock: ClockPointer! = nil

/// How long foreign code may take before others fire what is due meanwhile, in nanoseconds.
let eventPatience: Int64 = 1_000_000

/// All under the clock's lock.
private struct ProcessTimers {
    var relay: SourceRelay
    /// Somebody has taken a timer and is settling its promise.
    var isSettling = false
}

nonisolated(unsafe) private var timers: UnsafeMutablePointer<ProcessTimers>! = nil

/// Takes memory from the front of `storage`, which it moves on.
func prepareProcessClock(_ storage: inout UnsafeMutableRawPointer) {
    processClock = storage.bindMemory(to: Clock.self, capacity: 1)
    processClock.initialize(
        to: Clock(stripe: processStripe, descriptor: nil, isVirtual: false))
    storage += (MemoryLayout<Clock>.stride + 15) & ~15
    let relay = SourceRelay(in: &storage) { index in
        vow_platform_make_timer_source(
            fireProcessTimers, UnsafeMutableRawPointer(bitPattern: index))
    }
    timers = storage.bindMemory(to: ProcessTimers.self, capacity: 1)
    timers.initialize(to: ProcessTimers(relay: relay))
    storage += (MemoryLayout<ProcessTimers>.stride + 15) & ~15
}

/// Under the clock's lock. False: no memory.
func hasProcessTimer() -> Bool { timers.pointee.relay.hasSource }

/// Under the clock's lock. False: all sources are held up. The first that is not any more arms.
func armProcessTimer(_ moment: Int64) -> Bool {
    guard let source = timers.pointee.relay.listener() else { return false }
    vow_platform_set_timer_source(source, max(moment &- monotonicNow(), 0))
    return true
}

/// On one of libdispatch's threads.
private func fireProcessTimers(_ context: UnsafeMutableRawPointer?) {
    let index = SourceRelay.index(context)
    let thread = currentThread()
    withStripe(processStripe) {
        timers.pointee.relay.begin(index)
        processClock.pointee.hasGoneOff()
    }
    let moment = monotonicNow()
    while let node = withStripe(processStripe, { takeNext(at: moment) }) {
        asOneStep(thread) {
            node.pointee.fire(node, .due, thread)
            withStripe(processStripe) { timers.pointee.isSettling = false }
        }
        leave(thread)
    }
    withStripe(processStripe) {
        _ = timers.pointee.relay.end(index)
        let isServed = timers.pointee.isSettling
        processClock.pointee.armNow(notBefore: isServed ? monotonicNow() + eventPatience : 0)
    }
}

/// Nil: there is none, or who is settling goes on with the next.
private func takeNext(at moment: Int64) -> TimerPointer? {
    if timers.pointee.isSettling { return nil }
    guard let node = processClock.pointee.takeDue(at: moment) else { return nil }
    timers.pointee.isSettling = true
    processClock.pointee.armNow(notBefore: monotonicNow() + eventPatience)
    return node
}
