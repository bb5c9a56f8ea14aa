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
