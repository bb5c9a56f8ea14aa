// A clock and its timers: each loop has one, and the process has one.

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
