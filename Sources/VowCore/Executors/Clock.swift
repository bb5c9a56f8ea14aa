// Clocks and timers. Each loop has a clock; the process has one for all threads without a loop.
//
// The lock of its stripe guards a clock and its timers, which stand in a wheel, see Timers.swift. A timer in the wheel is one
// producer's reference. The thread that takes a timer out, under the lock, owns it: so stopping and firing exclude each other.
//
// The pool's keeper is the alarm of the process's clock. The keeper only calls a worker, which fires the due timers. Workers
// take and settle one timer at a time (`isSettling`), so timers settle in order. Code that a timer calls may be slow, or
// wait for a later timer. So a worker sets the alarm for the next timer before it fires one, a millisecond later at the
// earliest, and clears `isSettling` before foreign code runs: another worker goes on. The keeper's `alarm` and `sleepsUntil`
// are under the pool's lock, which is taken inside the stripe's and never the other way round. An alarm earlier than
// `sleepsUntil` wakes the keeper; an alarm set before the keeper sleeps is seen when it does.
//
// The file ends with the time limit that a scope sets for everything created under it.

import CVow
import CVowPlatform

typealias ClockPointer = UnsafeMutablePointer<Clock>

private let lastVirtualTime = AtomicWord(0)

enum ClockMove {
    case moved
    /// The next timer is later than the limit, to which the clock was moved.
    case isTooLate
    case none
}

struct Clock {
    /// The first field: gdb finds the timers by the clock's address.
    private(set) var wheel: TimerWheel
    let stripe: Int
    /// The timer descriptor of a loop's clock; nil for the process's clock.
    private let descriptor: Int32?
    /// The time of a virtual clock; nil for the others.
    var virtualNow: Int64?
    /// Moments of two clocks with the same `time` compare: 0 for the monotonic clock; a virtual clock has its own number.
    let time: UInt64
    /// The moment at which the descriptor or the keeper's alarm goes off; `Int64.max`: never.
    private var armed = Int64.max
    /// Set while the loop runs: the runner arms the descriptor before it sleeps or returns.
    var isArmedLater = false
    /// The clock takes no timers: its loop is destroyed, or a forked child has a copy of the parent's clock.
    var isClosed = false

    /// - Parameter memory: `TimerWheel.size` bytes.
    init(stripe: Int, descriptor: Int32?, isVirtual: Bool, wheelIn memory: UnsafeMutableRawPointer)
    {
        wheel = TimerWheel(in: memory)
        self.stripe = stripe
        self.descriptor = descriptor
        virtualNow = isVirtual ? monotonicNow() : nil
        time = isVirtual ? lastVirtualTime.addRelaxed(1) + 1 : 0
    }

    var now: Int64 { virtualNow ?? monotonicNow() }

    mutating func add(_ node: TimerPointer, at deadline: Int64, now: Int64) {
        wheel.insert(node, at: deadline, now: now)
        if deadline <= armed { arm(for: deadline) }
    }

    @inline(never)
    mutating func remove(_ node: TimerPointer) {
        wheel.remove(node)
        node.pointee.clock = nil
        // The keeper's alarm stays: one early alarm costs less than setting it for each removal.
        if descriptor != nil { arm() }
    }

    /// Takes out the next timer if it is due at `moment`, which has come or is `Int64.max` on a closed clock.
    @inline(never)
    mutating func takeDue(at moment: Int64) -> TimerPointer? {
        guard let node = wheel.next(before: moment), node.pointee.deadline <= moment else {
            return nil
        }
        wheel.remove(node)
        node.pointee.clock = nil
        return node
    }

    /// Moves a virtual clock to the next timer, at most to `limit`.
    mutating func moveToNextTimer(before limit: Int64) -> ClockMove {
        if wheel.isEmpty { return .none }
        let next = wheel.next(before: limit)?.pointee.deadline ?? Int64.max
        virtualNow = max(now, min(next, limit))
        return next > limit ? .isTooLate : .moved
    }

    mutating func armNow(notBefore: Int64 = 0) {
        isArmedLater = false
        arm(notBefore: notBefore)
    }

    mutating func hasGoneOff() { armed = Int64.max }

    private mutating func arm(notBefore: Int64 = 0) {
        // An early alarm costs less than setting it again.
        if isArmedLater || isClosed || descriptor == nil && armed <= notBefore { return }
        arm(for: max(wheel.nextLook(at: now), notBefore))
    }

    private mutating func arm(for moment: Int64) {
        if isArmedLater || isClosed { return }
        var wanted = moment
        guard let descriptor else {
            if wanted < armed {
                armed = wanted
                setAlarm(wanted)
            }
            return
        }
        // A virtual clock stands still: no timer becomes due by waiting.
        if let virtualNow { wanted = !wheel.isEmpty && wanted <= virtualNow ? 1 : Int64.max }
        if wanted == armed { return }
        armed = wanted
        vow_platform_set_timer(descriptor, wanted == Int64.max ? 0 : max(wanted, 1))
    }
}

// MARK: Setting and stopping timers, on the clock of the calling thread

func clockNow(_ thread: ThreadPointer) -> Int64 {
    withClock(thread) { clock in
        if clock == processClock { return monotonicNow() }
        return withStripe(clock.pointee.stripe) { clock.pointee.now }
    }
}

enum TimerStart {
    case started
    /// In a forked child, after the shutdown, or on a closed clock.
    case refused
    case noMemory
}

/// Starts a timer, `delay` nanoseconds (not negative) from now. The timer may fire before the function returns.
func startTimer(_ node: TimerPointer, after delay: Int64, _ thread: ThreadPointer) -> TimerStart {
    startTimer(node, thread) { moment(delay, after: $0) }
}

/// Starts a timer for a moment of the time of `clockNow`.
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
        let now = clock.pointee.now
        clock.pointee.add(node, at: moment(now), now: now)
        return .started
    }
}

/// Starts a timer on a loop's clock (nil: the process's), from any thread.
func startTimer(
    _ node: TimerPointer, after delay: Int64, of loop: LoopPointer?, _ thread: ThreadPointer
) -> TimerStart {
    let clock: ClockPointer = loop?.pointee.clock ?? processClock
    let start = startTimer(node, on: clock, thread) { moment(delay, after: $0) }
    // The runner moves a virtual clock to the timer. Without an earlier timer the runner sleeps.
    if let loop { vow_platform_raise(loop.pointee.event) }
    return start
}

/// A sum beyond `Int64.max` is `Int64.max`.
func moment(_ delay: Int64, after now: Int64) -> Int64 {
    let (sum, overflow) = now.addingReportingOverflow(delay)
    return overflow ? Int64.max : sum
}

/// Returns true if the timer was set and will never fire, false if it has fired or is about to.
func stopTimer(_ node: TimerPointer) -> Bool {
    // `stripe` was written before the timer was started, and is constant since.
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

// MARK: The clock of the process

/// Written once, before any thread has entered.
nonisolated(unsafe) private(set) var processClock: ClockPointer! = nil

/// Nanoseconds that foreign code may take before another worker fires due timers and ready watches.
let eventPatience: Int64 = 1_000_000

/// A worker has taken a timer and settles its promise. Under the clock's lock.
nonisolated(unsafe) private var isSettling = false

/// Takes memory from the front of `storage` and advances it.
func prepareProcessClock(_ storage: inout UnsafeMutableRawPointer) {
    processClock = storage.bindMemory(to: Clock.self, capacity: 1)
    let wheel = storage + MemoryLayout<Clock>.stride
    processClock.initialize(
        to: Clock(stripe: processStripe, descriptor: nil, isVirtual: false, wheelIn: wheel))
    storage += (MemoryLayout<Clock>.stride + TimerWheel.size + 15) & ~15
}

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

/// Returns nil if no timer is due, or if another worker settles one: that worker goes on with the next.
private func takeNext(at moment: Int64) -> TimerPointer? {
    if isSettling { return nil }
    guard let node = processClock.pointee.takeDue(at: moment) else { return nil }
    isSettling = true
    processClock.pointee.armNow(notBefore: monotonicNow() + eventPatience)
    return node
}

// MARK: Stripes
//
// The locks of clocks, of watch tables and of hooks with handles. A stripe outlives them all: a timer or watch may be stopped
// when its clock is gone, and a hook may leave when its promise is gone. A fork holds all stripes.

private let stripeCount = 16
private let stripeSize = 64

/// Written once, before any thread has entered.
nonisolated(unsafe) private var stripes: UnsafeMutableRawPointer! = nil
private let lastStripe = AtomicWord(0)

/// Takes memory from the front of `storage` and advances it.
func prepareStripes(_ storage: inout UnsafeMutableRawPointer) {
    stripes = UnsafeMutableRawPointer(
        bitPattern: (UInt(bitPattern: storage) + 63) & ~63)
    for index in 0..<stripeCount { lock(of: index).initialize(to: SpinLock()) }
    storage = stripes + stripeCount * stripeSize
}

/// The process's clock has the first stripe for itself.
let processStripe = 0

func nextStripe() -> Int { 1 + Int(lastStripe.addRelaxed(1) % UInt64(stripeCount - 1)) }

/// A stripe for an object of which only the address is known. A schedule must not depend on addresses.
func stripe(for address: UInt) -> Int {
    #if VOW_SCHEDULES
        return 1
    #else
        return 1 + Int(address % UInt(stripeCount - 1))
    #endif
}

private func lock(of stripe: Int) -> UnsafeMutablePointer<SpinLock> {
    (stripes + stripe * stripeSize).assumingMemoryBound(to: SpinLock.self)
}

func withStripe<Result>(_ stripe: Int, _ body: () -> Result) -> Result {
    lock(of: stripe).pointee.withLock(body)
}

func lockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.lock() } }
func unlockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.unlock() } }

// MARK: The deadline of a scope
//
// The terms of a scope stand in the memory of the promise of its end, which everything created under the scope keeps.

/// The terms follow the `ProducerPart`.
struct ScopeTerms {
    /// A moment of the clock of the scope's maker; `Int64.max`: no deadline.
    let deadline: Int64
    /// The `time` of that clock.
    let time: UInt64
    /// A static string.
    let label: UnsafePointer<CChar>?
}

/// Nanoseconds (not negative) that the calling thread's scope has left, by the thread's clock; nil: no limit. A scope of a
/// virtual clock limits nothing on other clocks, nor the reverse: their moments do not compare.
@inline(__always)
func timeLeft(_ thread: ThreadPointer) -> Int64? {
    guard let scope = thread.pointee.scope else { return nil }
    return timeLeft(under: scope, thread)
}

@inline(never)
private func timeLeft(under scope: RecordPointer, _ thread: ThreadPointer) -> Int64? {
    let terms = scope.part(ScopeTerms.self).pointee
    if terms.deadline == Int64.max { return nil }
    return withClock(thread) { clock in
        if clock.pointee.time != terms.time { return nil }
        let now =
            clock == processClock
            ? monotonicNow() : withStripe(clock.pointee.stripe) { clock.pointee.now }
        return max(terms.deadline - now, 0)
    }
}
