// Rings: whether a promise would have to wait for itself.
//
// A promise that needs each of others is looked through, as far as `RingSearch` goes. One of which another member, or a
// timer, can still make an end is no part of a ring.

import CVow

/// Whether the way upstream of a promise (borrowed) comes to a follower, or goes in circles. If so, the follower
/// is visited.
func leads(from start: RecordPointer, to follower: RecordPointer, _ thread: ThreadPointer) -> Bool {
    start.visit()
    guard let end = endOfWay(from: start, to: follower, thread) else { return true }
    defer { end.endVisit(thread) }
    guard let owner = end.needsEach else { return false }
    return withUnsafeTemporaryAllocation(of: LookedAt.self, capacity: LookedThrough.few) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a search") }
        var search = RingSearch(seen: LookedThrough(lent: memory))
        let isRing = leads(through: end, owner, to: follower, &search, thread)
        search.end(thread)
        return isRing
    }
}

/// How far combined promises are looked through: what one adoption costs has a bound.
private struct RingSearch: ~Copyable {
    var seen: LookedThrough
    /// How many members are still looked at, of combined promises behind the first one.
    var left = 1024
    var depth = 0

    consuming func end(_ thread: ThreadPointer) { seen.end(thread) }
}

/// - Parameters: end is borrowed, and observed by owner.
@inline(never)
private func leads(
    through end: RecordPointer, _ owner: UnsafeMutablePointer<ObserverOwner>,
    to follower: RecordPointer, _ search: inout RingSearch, _ thread: ThreadPointer
) -> Bool {
    // It may be one of more than are looked at.
    if follower.isLookedAt(by: owner) {
        follower.visit()
        return true
    }
    let isFirst = search.depth == 0
    if search.depth == deepestLook || !hasStackLeft() || !search.seen.isNew(end) { return false }
    search.depth += 1
    defer { search.depth -= 1 }
    var place = 0
    var heard = owner.pointee.view.heard(owner)
    while isFirst || search.left > 0 {
        switch owner.pointee.view.observed(owner, place) {
        case .noMore:
            let now = owner.pointee.view.heard(owner)
            if now == heard || owner.pointee.view.isConstant { return false }
            // One was perhaps not looked at.
            heard = now
            place = 0
            continue
        case .nothing, .leftInStep, .executor: break
        case .promise(let member):
            if !isFirst { search.left -= 1 }
            guard let further = endOfWay(from: member, to: follower, thread) else { return true }
            let next = further.needsEach
            let isRing = next.map { leads(through: further, $0, to: follower, &search, thread) }
            further.endVisit(thread)
            if isRing ?? false { return true }
        }
        place += 1
    }
    return false
}

/// Where the way upstream of a promise (a visit, consumed) ends (a visit). Nil: it comes to a follower, which is visited, or
/// goes in circles.
@inline(never)
private func endOfWay(
    from start: RecordPointer, to follower: RecordPointer, _ thread: ThreadPointer
) -> RecordPointer? {
    var current = start
    var watch = RingWatch(from: current)
    var isRing = start == follower
    while !isRing, let next = current.lockedUpstream().promise {
        current.endVisit(thread)
        current = next
        isRing = current == follower || watch.hasSeen(current, thread)
    }
    if isRing { follower.visit() }
    watch.end(thread)
    if !isRing { return current }
    current.endVisit(thread)
    return nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a pending promise that waits for each of others, and for nothing else: who looks at them.
    @inline(__always)
    var needsEach: UnsafeMutablePointer<ObserverOwner>? {
        pointee.shape.isProduced ? observingEach : nil
    }

    @inline(never)
    private var observingEach: UnsafeMutablePointer<ObserverOwner>? {
        guard let owner = observing else { return nil }
        let view = owner.pointee.view
        return view.needsEach && !view.endsByItself ? owner : nil
    }
}

/// Sees that a walk goes in circles (Brent's algorithm): a mark is moved up at growing distances.
struct RingWatch: ~Copyable {
    /// A visit.
    private var mark: RecordPointer
    private var steps = 0
    private var distance = 1

    init(from start: RecordPointer) {
        start.visit()
        mark = start
    }

    /// After each step: whether the walk has been here before.
    mutating func hasSeen(_ current: RecordPointer, _ thread: ThreadPointer) -> Bool {
        if current == mark { return true }
        steps += 1
        if steps == distance {
            distance *= 2
            steps = 0
            mark.endVisit(thread)
            current.visit()
            mark = current
        }
        return false
    }

    consuming func end(_ thread: ThreadPointer) { mark.endVisit(thread) }
}
