// Clocks and their timers: each loop has a clock, and the process has one for all threads that have no loop.
//
// Everything of a clock is under the lock of its stripe. The timers of a clock are a heap through their own memory. The
// pool's keeper is the alarm of the process's clock, and a worker fires what is due: one timer at a time is taken and
// settled, so timers settle in order. What that calls may be slow, or wait for a later timer: before it begins, the alarm
// is set for those, after a moment's patience, so that another worker goes on.
//
// What a scope says about time to all that is made under it stands here too.

import CVow
import CVowPlatform

typealias ClockPointer = UnsafeMutablePointer<Clock>

private let lastVirtualTime = AtomicWord(0)

/// All under the lock of its stripe.
struct Clock {
    var heap = TimerHeap()
    private var lastSequence: UInt64 = 0
    let stripe: Int
    /// Of a loop: its timer descriptor; nil: the process's.
    private let descriptor: Int32?
    /// Of a virtual loop: what time it is.
    var virtualNow: Int64?
    /// Moments of clocks that have the same one can be compared: 0, the monotonic clock's, or a virtual one's own.
    let time: UInt64
    /// When the descriptor or the keeper's alarm goes off; `Int64.max`: never.
    private var armed = Int64.max
    /// The loop is running: it arms the descriptor itself before it sleeps or returns.
    var isArmedLater = false
    /// Takes no timers: its loop is destroyed, or it belongs to the parent of a forked child.
    var isClosed = false

    init(stripe: Int, descriptor: Int32?, isVirtual: Bool) {
        self.stripe = stripe
        self.descriptor = descriptor
        virtualNow = isVirtual ? monotonicNow() : nil
        time = isVirtual ? lastVirtualTime.addRelaxed(1) + 1 : 0
    }

    var now: Int64 { virtualNow ?? monotonicNow() }

    mutating func add(_ node: TimerPointer, at deadline: Int64) {
        lastSequence += 1
        node.pointee.deadline = deadline
        node.pointee.sequence = lastSequence
        heap.insert(node)
        if heap.first == node { arm() }
    }

    mutating func remove(_ node: TimerPointer) {
        let wasFirst = heap.first == node
        heap.remove(node)
        node.pointee.clock = nil
        // The alarm goes off once for nothing: cheaper than to set it for each.
        if wasFirst && descriptor != nil { arm() }
    }

    /// The first timer, if it is due at that moment; it has left the clock.
    mutating func takeDue(at moment: Int64) -> TimerPointer? {
        guard let node = heap.first, node.pointee.deadline <= moment else { return nil }
        _ = heap.popFirst()
        node.pointee.clock = nil
        return node
    }

    mutating func armNow(notBefore: Int64 = 0) {
        isArmedLater = false
        arm(notBefore: notBefore)
    }

    /// The alarm has gone off.
    mutating func hasGoneOff() { armed = Int64.max }

    private mutating func arm(notBefore: Int64 = 0) {
        if isArmedLater || isClosed { return }
        var wanted = heap.first.map { max($0.pointee.deadline, notBefore) } ?? Int64.max
        guard let descriptor else {
            // One that goes off too early costs less than to set it again.
            if wanted < armed {
                armed = wanted
                setAlarm(wanted)
            }
            return
        }
        // A virtual clock stands still: what is due is due, and nothing else will be.
        if let virtualNow { wanted = wanted <= virtualNow ? 1 : Int64.max }
        if wanted == armed { return }
        armed = wanted
        vow_platform_set_timer(descriptor, wanted == Int64.max ? 0 : max(wanted, 1))
    }
}

// MARK: Timers in order
//
// Timers in order of their deadlines: a pairing heap linked through their own memory. Adding takes constant
// time, removing O(log n), amortised; neither allocates or recurses.
//
//   child     the first of those below
//   sibling   the next one below the same timer
//   previous  the sibling before, or for a first child the timer above; nil: the top
//
// No timer is below one that comes after it.

typealias TimerPointer = UnsafeMutablePointer<TimerNode>

/// Why a timer has left its clock by itself.
enum TimerEnd {
    /// It is due.
    case due
    /// Its loop was destroyed.
    case shutDown
}

/// A timer. Its owner keeps it in place until it has been stopped or has fired; the clock's lock protects
/// every field from `startTimer` on.
struct TimerNode {
    fileprivate(set) var child: TimerPointer?
    fileprivate(set) var sibling: TimerPointer?
    fileprivate(set) var previous: TimerPointer?
    /// Of the clock's time.
    var deadline: Int64 = 0
    /// Of two with the same deadline, the one made first comes first.
    var sequence: UInt64 = 0
    /// Nil: in no heap.
    var clock: ClockPointer?
    /// Which lock is the clock's; stays when the clock is gone.
    var stripe = 0
    /// Called once, without a lock, unless the timer is stopped before.
    let fire: (TimerPointer, TimerEnd, ThreadPointer) -> Void

    init(_ fire: @escaping (TimerPointer, TimerEnd, ThreadPointer) -> Void) { self.fire = fire }

    fileprivate func comes(before other: TimerPointer) -> Bool {
        let theirs = other.pointee.deadline
        return deadline < theirs || (deadline == theirs && sequence < other.pointee.sequence)
    }
}

struct TimerHeap {
    /// The earliest.
    private(set) var first: TimerPointer?

    init() {}

    /// The node is in no heap.
    mutating func insert(_ node: TimerPointer) {
        node.pointee.child = nil
        node.pointee.sibling = nil
        node.pointee.previous = nil
        first = first.map { merge($0, node) } ?? node
    }

    /// The node is in this heap.
    mutating func remove(_ node: TimerPointer) {
        let below = pairUp(node.pointee.child)
        node.pointee.child = nil
        if node == first {
            first = below
            return
        }
        cut(node)
        if let below, let top = first { first = merge(top, below) }
    }

    mutating func popFirst() -> TimerPointer? {
        guard let node = first else { return nil }
        remove(node)
        return node
    }
}

/// Two tops become one; its links to the side are nil.
private func merge(_ one: TimerPointer, _ other: TimerPointer) -> TimerPointer {
    let (top, below) = other.pointee.comes(before: one) ? (other, one) : (one, other)
    let child = top.pointee.child
    below.pointee.sibling = child
    below.pointee.previous = top
    child?.pointee.previous = below
    top.pointee.child = below
    return top
}

private func cut(_ node: TimerPointer) {
    guard let previous = node.pointee.previous else { fatal("a timer is not where it was put") }
    let sibling = node.pointee.sibling
    if previous.pointee.child == node {
        previous.pointee.child = sibling
    } else {
        previous.pointee.sibling = sibling
    }
    sibling?.pointee.previous = previous
    node.pointee.sibling = nil
    node.pointee.previous = nil
}

/// Makes one heap of siblings: neighbours in pairs from the left, then the pairs from the right.
private func pairUp(_ start: TimerPointer?) -> TimerPointer? {
    var pairs: TimerPointer?
    var rest = start
    while let one = rest {
        let other = one.pointee.sibling
        rest = other?.pointee.sibling
        makeTop(one)
        if let other { makeTop(other) }
        let pair = other.map { merge(one, $0) } ?? one
        // A stack through `sibling`, so the last pair comes off first.
        pair.pointee.sibling = pairs
        pairs = pair
    }
    var top: TimerPointer?
    while let pair = pairs {
        pairs = pair.pointee.sibling
        makeTop(pair)
        top = top.map { merge($0, pair) } ?? pair
    }
    return top
}

private func makeTop(_ node: TimerPointer) {
    node.pointee.sibling = nil
    node.pointee.previous = nil
}

// MARK: Setting and stopping timers, on the clock of the calling thread

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

// MARK: The clock of the process

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

// MARK: Stripes
//
// The locks of clocks, of tables of descriptors and of hooks with handles. A timer or watch can be asked to stop when its
// clock is gone already, and a hook to leave when its promise is, so the lock must outlive that; and a fork holds them all.

private let stripeCount = 16
private let stripeSize = 64

/// Written once, before any thread has entered.
nonisolated(unsafe) private var stripes: UnsafeMutableRawPointer! = nil
private let lastStripe = AtomicWord(0)

/// Takes memory from the front of `storage`, which it moves on.
func prepareStripes(_ storage: inout UnsafeMutableRawPointer) {
    stripes = UnsafeMutableRawPointer(
        bitPattern: (UInt(bitPattern: storage) + 63) & ~63)
    for index in 0..<stripeCount { lock(of: index).initialize(to: SpinLock()) }
    storage = stripes + stripeCount * stripeSize
}

/// The process-wide clock has the first one for itself.
let processStripe = 0

func nextStripe() -> Int { 1 + Int(lastStripe.addRelaxed(1) % UInt64(stripeCount - 1)) }

/// One for who has but an address, or what is left of it. A schedule must not depend on that.
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

/// Around a fork.
func lockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.lock() } }
func unlockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.unlock() } }

// MARK: The deadline of a scope
//
// What a scope says to all that is made under it: stands in the memory of the promise of its end, which everything that is
// carried along keeps.

/// Right behind the producer's part.
struct ScopeTerms {
    /// By the clock of who made the scope; `Int64.max`: none.
    let deadline: Int64
    /// Which clocks tell the same time: see `Clock`.
    let time: UInt64
    /// Static.
    let label: UnsafePointer<CChar>?
}

/// How long what is made here may take, not negative, by the clock of the calling thread; nil: as long as it likes. A scope
/// of a virtual clock limits nothing on other clocks, and the other way round: those moments cannot be compared.
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
