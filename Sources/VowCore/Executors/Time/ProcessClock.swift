// The clock of all threads that have no loop. The pool's keeper is its alarm, and a worker fires what is due.
//
// One timer at a time is taken and settled, so timers settle in order. What that calls may be slow, or wait for a later
// timer: before it begins, the alarm is set for those, after a moment's patience, so that another worker goes on.

import CVowPlatform

/// Written once, before any thread has entered.
nonisolated(unsafe) private(set) var processClock: ClockPointer! = nil

/// How long foreign code may take before others fire what is due meanwhile, in nanoseconds.
let eventPatience: Int64 = 1_000_000

/// Somebody has taken a timer and is settling its promise. Under the clock's lock.
nonisolated(unsafe) private var isSettling = false

/// Takes memory from the front of `storage`, which it moves on.
func prepareProcessClock(_ storage: inout UnsafeMutableRawPointer) {
    processClock = storage.bindMemory(to: Clock.self, capacity: 1)
    processClock.initialize(
        to: Clock(stripe: processStripe, descriptor: nil, isVirtual: false))
    storage += (MemoryLayout<Clock>.stride + 15) & ~15
}

/// A timer is due, or has been for a moment.
func fireProcessTimers(_ thread: ThreadPointer) {
    withStripe(processStripe) { processClock.pointee.hasGoneOff() }
    let moment = monotonicNow()
    while let node = withStripe(processStripe, { takeNext(at: moment) }) {
        asOneStep(thread) {
            node.pointee.fire(node, .due, thread)
            withStripe(processStripe) { isSettling = false }
        }
        leave(thread)
    }
    withStripe(processStripe) {
        processClock.pointee.armNow(notBefore: isSettling ? monotonicNow() + eventPatience : 0)
    }
}

/// Nil: there is none, or who is settling goes on with the next.
private func takeNext(at moment: Int64) -> TimerPointer? {
    if isSettling { return nil }
    guard let node = processClock.pointee.takeDue(at: moment) else { return nil }
    isSettling = true
    processClock.pointee.armNow(notBefore: monotonicNow() + eventPatience)
    return node
}
