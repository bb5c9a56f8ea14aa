// Timers in order: a hierarchical wheel (Varghese and Lauck 1987) whose slots are those of a monotone radix heap (Ahuja et al.
// 1990). Making, stopping and firing a timer cost the same beside ten and beside a million. None allocates.
//
//   last     a moment, not later than the deadline of any timer, nor than the clock's time
//   level    L, of eleven: the timers whose deadlines differ from `last` first in the digit L, of six bits
//   slot     of 64 on a level: the timers with the same digit there, as a ring through their own memory, oldest first
//
// So the place of a timer follows from its deadline and `last`. The next timer is in the lowest slot of the lowest level with
// any: the deadlines of that slot agree with `last` above the level, and are earlier than all others. A slot with few timers is
// searched. If the slot has more, and its beginning has come, that beginning becomes `last`, and `spread` moves the timers to
// lower levels. The places of all other timers stay: the lower levels were empty; timers on the slot's level have a larger
// digit than the new `last`; and above, the new `last` has the digits of the old one. A timer is moved at most ten times.
//
// Timers with equal deadlines go off oldest first: they always share a slot; a new timer comes last there; `spread` takes a slot
// from its oldest timer on and appends to slots that were empty; and the search prefers the older. On level 0 all deadlines of
// a slot are equal.

typealias TimerPointer = UnsafeMutablePointer<TimerNode>

/// The reason why a timer fires.
enum TimerEnd {
    case due
    /// The loop was destroyed, or `vow_shutdown` has ended the process's clock.
    case shutDown
}

/// The owner keeps a timer in place until it was stopped or has fired. The clock's lock guards the fields from `startTimer` on.
struct TimerNode {
    /// The neighbours in the slot's ring.
    fileprivate var next: TimerPointer! = nil
    fileprivate var previous: TimerPointer! = nil
    /// A moment of the clock's time.
    fileprivate(set) var deadline: Int64 = 0
    /// Nil while the timer is in no wheel.
    var clock: ClockPointer?
    /// The number of the clock's lock; valid after the clock is gone.
    var stripe = 0
    /// Called once, without a lock, unless the timer is stopped before.
    let fire: (TimerPointer, TimerEnd, ThreadPointer) -> Void

    init(_ fire: @escaping (TimerPointer, TimerEnd, ThreadPointer) -> Void) { self.fire = fire }
}

struct TimerWheel {
    /// A bit for each level with timers. The first field: gdb reads it.
    private var levels: UInt64 = 0
    private var last: Int64 = 0
    /// For each level a bit for each slot with timers.
    private let filled: UnsafeMutablePointer<UInt64>
    /// The youngest timer of each slot; the oldest one is the next in the ring.
    private let youngest: UnsafeMutablePointer<TimerPointer?>

    private static let digitBits = 6
    private static let levelCount = 11
    /// So many timers of a slot are searched.
    private static let few = 8

    static let size = levelCount * (1 + 1 << digitBits) * MemoryLayout<UInt64>.stride

    /// - Parameter memory: `size` bytes.
    init(in memory: UnsafeMutableRawPointer) {
        filled = memory.bindMemory(to: UInt64.self, capacity: Self.levelCount)
        filled.initialize(repeating: 0, count: Self.levelCount)
        let slotCount = Self.levelCount << Self.digitBits
        youngest = (memory + Self.levelCount * MemoryLayout<UInt64>.stride)
            .bindMemory(to: TimerPointer?.self, capacity: slotCount)
        youngest.initialize(repeating: nil, count: slotCount)
    }

    var isEmpty: Bool { levels == 0 }

    /// When to look for due timers again: at the next deadline; or at the beginning of the next slot, if it comes after `now` and
    /// the slot has more than a few timers, which are then spread: a wake-up for many, on each level once; `Int64.max`: never.
    mutating func nextLook(at now: Int64) -> Int64 {
        if let node = next(before: now) { return node.pointee.deadline }
        return firstPlace.map { beginning(of: $0) } ?? Int64.max
    }

    /// Adds a timer. A deadline before `last` becomes `last`: it has come, as those at `last` have, after which it comes.
    mutating func insert(_ node: TimerPointer, at deadline: Int64, now: Int64) {
        if isEmpty { last = max(last, now) }
        node.pointee.deadline = max(deadline, last)
        append(node)
    }

    mutating func remove(_ node: TimerPointer) {
        let place = place(of: node)
        guard let next = node.pointee.next, let youngest = youngest[place] else {
            fatal("a timer is not where it was put")
        }
        if next == node { return empty(place) }
        let previous = node.pointee.previous!
        previous.pointee.next = next
        next.pointee.previous = previous
        if youngest == node { self.youngest[place] = previous }
    }

    /// The next timer, whenever it is due; nil if there is none, or if it is later than `moment` and one of many. The clock's time
    /// is `moment` or later when the caller gives up the lock.
    mutating func next(before moment: Int64) -> TimerPointer? {
        while let place = firstPlace {
            if let node = earliest(of: place) { return node }
            let beginning = beginning(of: place)
            if beginning > moment { return nil }
            spread(place, from: beginning)
        }
        return nil
    }

    private mutating func spread(_ place: Int, from beginning: Int64) {
        guard let youngest = youngest[place] else { return }
        empty(place)
        last = beginning
        var next = youngest.pointee.next!
        while true {
            let node = next
            next = node.pointee.next
            append(node)
            if node == youngest { return }
        }
    }

    private mutating func append(_ node: TimerPointer) {
        let place = place(of: node)
        if let before = youngest[place] {
            let oldest = before.pointee.next!
            node.pointee.next = oldest
            node.pointee.previous = before
            before.pointee.next = node
            oldest.pointee.previous = node
        } else {
            node.pointee.next = node
            node.pointee.previous = node
            filled[place >> Self.digitBits] |= 1 << UInt64(place & 63)
            levels |= 1 << UInt64(place >> Self.digitBits)
        }
        youngest[place] = node
    }

    private mutating func empty(_ place: Int) {
        let level = place >> Self.digitBits
        youngest[place] = nil
        filled[level] &= ~(1 << UInt64(place & 63))
        if filled[level] == 0 { levels &= ~(1 << UInt64(level)) }
    }

    /// The earliest timer of a slot, of equal ones the oldest; nil if the slot has more than a few, and is not on level 0.
    private func earliest(of place: Int) -> TimerPointer? {
        guard let youngest = youngest[place] else { return nil }
        var node = youngest.pointee.next!
        var earliest = node
        if place >> Self.digitBits == 0 { return earliest }
        for _ in 0..<Self.few {
            if node == youngest { return earliest }
            node = node.pointee.next
            if node.pointee.deadline < earliest.pointee.deadline { earliest = node }
        }
        return nil
    }

    // A place is the level's number and the digit in one.

    private var firstPlace: Int? {
        if isEmpty { return nil }
        let level = levels.trailingZeroBitCount
        return level << Self.digitBits | filled[level].trailingZeroBitCount
    }

    private func place(of node: TimerPointer) -> Int {
        let deadline = node.pointee.deadline
        let level = (63 - (deadline ^ last | 1).leadingZeroBitCount) / Self.digitBits
        return level << Self.digitBits | Int(deadline >> Int64(level * Self.digitBits)) & 63
    }

    private func beginning(of place: Int) -> Int64 {
        let shift = Int64(place >> Self.digitBits * Self.digitBits)
        return (last >> shift & ~63 | Int64(place & 63)) << shift
    }
}
