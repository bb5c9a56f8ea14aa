// First-in first-out lists of members, linked through the members' own memory, and taking one member out of the middle.
//
// A promise's queue is a stack linked by `next`, so that a member enters by one compare-and-exchange. A list of a thread or an
// executor is its own and needs no ordering. Reactions are on a list by their lanes, only after `markOut`; followers and
// observers on the way to their outcome are linked by their slots, and are not out.
//
// Leaving a queue from the middle needs the member before: the `wayBack`, filled in by a thread that takes a member out, under
// the promise's lock, so that leaving takes constant time on average. Members that came after the settling have none. The lock
// is held for a piece of the queue at a time: `Descent` remembers the place of the look.

import CVowPlatform

/// Links reactions and observers by their lanes: their slots are free, so a canceller can settle them on the list.
struct MemberList {
    private(set) var first: RecordPointer?
    private(set) var last: RecordPointer?

    init() {}

    init(_ member: RecordPointer) { append(member) }

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    @inline(__always)
    mutating func append(_ member: RecordPointer) {
        member.lane = nil
        if let last { last.lane = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func prepend(_ member: RecordPointer) {
        member.lane = first
        if last == nil { last = member }
        first = member
    }

    @inline(__always)
    mutating func append(_ other: MemberList) {
        guard let head = other.first else { return }
        if let last { last.lane = head } else { first = head }
        last = other.last
    }

    @inline(__always)
    mutating func popFirst() -> RecordPointer? {
        guard let member = first else { return nil }
        first = member.lane
        if first == nil { last = nil }
        return member
    }

    /// Takes one member out of the middle. Visits at most `limit` members.
    mutating func remove(_ wanted: RecordPointer, within limit: Int) -> Bool {
        var before: RecordPointer?
        var member = first
        var looked = 0
        while let current = member, looked < limit {
            if current == wanted {
                let after = current.lane
                if let before { before.lane = after } else { first = after }
                if after == nil { last = before }
                return true
            }
            before = current
            member = current.lane
            looked += 1
        }
        return false
    }

    /// Reverses a stack (newest first) that is linked by lanes.
    @inline(__always)
    init(reversing newest: RecordPointer?) {
        self.init()
        var member = newest
        while let current = member {
            member = current.lane
            prepend(current)
        }
    }
}

/// Links observers by their lanes, and cancelled produced promises by their slots, whose second half has the error to come.
struct LeavingList {
    private(set) var first: RecordPointer?
    private var last: RecordPointer?

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    mutating func append(_ record: RecordPointer) {
        record.nextLeaving = nil
        if let last { last.nextLeaving = record } else { first = record }
        last = record
    }

    mutating func popFirst() -> RecordPointer? {
        guard let record = first else { return nil }
        first = record.nextLeaving
        if first == nil { last = nil }
        return record
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    fileprivate var nextLeaving: RecordPointer? {
        get { pointee.shape.isProduced ? next : lane }
        nonmutating set {
            if pointee.shape.isProduced { next = newValue } else { lane = newValue }
        }
    }
}

/// Links members on their way to another queue or to their outcome, by their slots. A canceller of such a member waits until it
/// `isOut`, so no foreign code runs before the list is empty.
struct SlotList {
    private(set) var first: RecordPointer?
    private var last: RecordPointer?

    init() {}

    var isEmpty: Bool {
        @inline(__always) get { first == nil }
    }

    mutating func append(_ member: RecordPointer) {
        member.unmark()
        member.next = nil
        if let last { last.next = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func prepend(_ member: RecordPointer) {
        member.unmark()
        member.next = first
        if last == nil { last = member }
        first = member
    }

    mutating func append(_ other: SlotList) {
        guard let head = other.first else { return }
        if let last { last.next = head } else { first = head }
        last = other.last
    }

    mutating func popFirst() -> RecordPointer? {
        guard let member = first else { return nil }
        first = member.nextOfUnmarked
        if first == nil { last = nil }
        return member
    }

    /// Reverses a queue (newest first).
    init(reversing newest: RecordPointer?) {
        self.init()
        var member = newest
        while let current = member {
            member = current.next
            prepend(current)
        }
    }
}

// MARK: Taking a member out of the middle
//
// The `wayBack` is filled in on demand: from the newest member down to the wanted one, and as far again. So a wanted member
// among the newest does not pay for all below, and a way gone again ends twice as deep: each member is visited a few times.

/// The way back of the newest member.
private var top: RecordPointer? {
    @inline(__always) get { RecordPointer(bitPattern: 1) }
}

enum Unlinked {
    case out, notThere, deeper
}

struct Look {
    /// The last member with a way back; nil: the look is at the top.
    var place: RecordPointer?
    /// How many members the look has passed; after the wanted one is found, how many more it is to pass.
    var depth = 0

    /// How many members one piece has.
    static var piece: Int {
        #if VOW_SCHEDULES
            return 2
        #else
            return 256
        #endif
    }
}

/// Takes a member out of a promise's queue. Returns false if it is not there.
@inline(never)
func unlink(_ member: RecordPointer, outOf state: borrowing PromiseState) -> Bool {
    let word = state.lock()
    if word.head != member { return unlink(member, outOf: state, lockedAs: word) }
    state.unlock(word.phase, remove(member, behind: nil, head: member))
    return true
}

@inline(never)
private func unlink(
    _ member: RecordPointer, outOf state: borrowing PromiseState, lockedAs word: StateWord
) -> Bool {
    var look = Look()
    let rest = unlink(member, from: word, &look)
    // The member was found in one piece, so the rest takes one piece at most.
    if rest.result == .out { _ = fillFurther(&look, from: rest.head) }
    state.unlock(word.phase, rest.head)
    return rest.result == .deeper ? unlinkInPieces(member, outOf: state) : rest.result == .out
}

/// One piece of the look for a member, under the lock; takes the member out if it is found. Returns the new head.
func unlink(_ member: RecordPointer, from word: StateWord, _ look: inout Look) -> (
    result: Unlinked, head: RecordPointer?
) {
    if word.head == member { return (.out, remove(member, behind: nil, head: word.head)) }
    // Members that came after the settling have no ways back, and ways back of taken members are stale.
    if word.hasValue {
        let rest = search(member, from: word)
        return (rest.found ? .out : .notThere, rest.head)
    }
    if let before = member.wayBack, before != top {
        look.depth = 0
        return (.out, remove(member, behind: before, head: word.head))
    }
    // The member was the newest when its way back was filled in, or it has none.
    let result = fill(&look, from: word.head, downTo: member)
    if result != .out { return (result, word.head) }
    return (.out, remove(member, behind: look.place, head: word.head))
}

/// Looks without ways back, which in a forked child a thread of the parent may have been filling in.
@inline(never)
func search(_ member: RecordPointer, from word: StateWord) -> (
    found: Bool, head: RecordPointer?
) {
    var before: RecordPointer?
    var current = word.head
    while let here = current, here != member {
        before = here
        current = here.next
    }
    if current == nil { return (false, word.head) }
    return (true, remove(member, behind: before, head: word.head))
}

@inline(never)
private func remove(
    _ member: RecordPointer, behind before: RecordPointer?, head: RecordPointer?
) -> RecordPointer? {
    let after = member.next
    if let after, after.hasWayBack { after.wayBack = before ?? top }
    moveDescents(from: member, to: before)
    member.forgetPlace()
    guard let before else { return after }
    before.relink(to: after)
    return head
}

/// Returns `out` if the member is behind the look's place.
private func fill(
    _ look: inout Look, from head: RecordPointer?, downTo member: RecordPointer
) -> Unlinked {
    var before = look.place
    var current = before == nil ? head : before?.next
    var left = Look.piece
    defer { look.place = before }
    while let here = current, here != member {
        if left == 0 { return .deeper }
        here.wayBack = before ?? top
        before = here
        current = here.next
        left -= 1
        look.depth += 1
    }
    return current == nil ? .notThere : .out
}

/// One piece of the way below the member that was found, to where ways back are known. Returns false at the end.
func fillFurther(_ look: inout Look, from head: RecordPointer?) -> Bool {
    var before = look.place
    var current = before == nil ? head : before?.next
    var left = Look.piece
    defer { look.place = before }
    while let here = current, look.depth > 0 {
        if left == 0 { return true }
        let isKnown = here.hasWayBack
        here.wayBack = before ?? top
        if isKnown { break }
        before = here
        current = here.next
        left -= 1
        look.depth -= 1
    }
    return false
}

// MARK: The way back of a member
//
// Links and observers have it in their lane. A record without a lane, a plain promise that follows or a waiting thread, has it
// in 48 bits that a member does not need: the high half of the word of `next`, which is then marked, and the place of
// `inlineLeft`. So a thread that takes such a member out clears that place (`forgetPlace`, or `unmark` on the way to its
// outcome), before the record can have a value. Without room (an address of 57 bits), it is looked for from the top.

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The member before this one, under the lock of the promise. Nil: not known yet; see `unlink`.
    var wayBack: RecordPointer? {
        get {
            if pointee.shape.hasLane { return lane }
            let word = NextWord(slotWord.pointee.peek())
            if !word.isMarked { return nil }
            return RecordPointer(bitPattern: UInt(word.highHalf << 32 | UInt64(lowHalf)))
        }
        nonmutating set {
            if pointee.shape.hasLane {
                lane = newValue
            } else {
                let address = UInt64(UInt(bitPattern: newValue))
                let word = NextWord(next: next, highHalf: address >> 32)
                slotWord.pointee.poke(word?.bits ?? UInt64(UInt(bitPattern: next)))
                lowHalf = word == nil ? 0 : UInt32(truncatingIfNeeded: address)
            }
        }
    }

    @inline(__always)
    var hasWayBack: Bool {
        pointee.shape.hasLane ? lane != nil : NextWord(slotWord.pointee.peek()).isMarked
    }

    /// Changes `next` under the lock, and keeps the way back.
    func relink(to after: RecordPointer?) {
        let before = pointee.shape.hasLane ? nil : wayBack
        next = after
        if let before { wayBack = before }
    }

    /// The member is in no queue any more, or not yet.
    @inline(__always)
    func forgetPlace() {
        if pointee.shape.hasLane { lane = nil } else { unmark() }
    }

    /// Clears the way back of a member that was taken out, and whose lane may be another list's by now.
    @inline(__always)
    func unmark() {
        if !NextWord(slotWord.pointee.peek()).isMarked { return }
        next = next
        lowHalf = 0
    }

    private var lowHalf: UInt32 {
        @inline(__always) get { lowHalfAddress.load(as: UInt32.self) }
        nonmutating set { lowHalfAddress.storeBytes(of: newValue, as: UInt32.self) }
    }

    @inline(__always)
    private var lowHalfAddress: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + RecordOffset.lowHalfOfWayBack
    }
}

/// The word of `next`: an address; or, marked, an address of 48 bits and 16 bits of another one. packaging/gdb reads it too.
struct NextWord {
    let bits: UInt64

    private static let mark: UInt64 = 2
    private static let addressMask: UInt64 = 0x0000_ffff_ffff_fff0

    @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    /// Nil: an address does not fit.
    init?(next: RecordPointer?, highHalf: UInt64) {
        let address = UInt64(UInt(bitPattern: next))
        if address & ~NextWord.addressMask != 0 || highHalf >> 16 != 0 { return nil }
        bits = address | NextWord.mark | highHalf << 48
    }

    @inline(__always)
    var isMarked: Bool { bits & NextWord.mark != 0 }

    @inline(__always)
    var next: UInt64 { isMarked ? bits & NextWord.addressMask : bits }

    var highHalf: UInt64 { bits >> 48 }
}

// MARK: A look in pieces
//
// A look far down unlocks the promise after each piece of 256 members, so that no thread waits for the whole. It remembers the
// member where it stands, its *place*, on the thread's stack, in a list under a leaf lock:
//
// * A thread that takes a member out, under the word's lock, moves the places that are this member to the one before. It asks a
//   count first, relaxed: the descent counted itself before it locked the word for the first time, and unlocks with release, so
//   a thread that locks later sees the count.
// * The step to settling waits for the lock and takes the queue. A look sees the value before it looks at its place, which may
//   be freed memory: it is compared and never followed.
// * Members that enter later are above the place. Members keep their order, so a look comes to each that stayed in the queue.
// * A place is written only under the lock of its promise. A thread at another queue reads it (a word of its own) and finds no
//   member of its own; only a place of a settled promise may be the address of another queue's member by now.
// * The looking thread has claimed the member, whose `upstream` keeps the promise; a waiting thread's caller keeps its own.

private typealias DescentPointer = UnsafeMutablePointer<Descent>

/// On the stack of the looking thread, and in the list.
private struct Descent: ~Copyable {
    /// `Look.place`, while the promise is not locked. Written under its lock.
    let place = AtomicWord(0)
    var next: DescentPointer?
    var previous: DescentPointer?
}

private let descentsLock = SpinLock()
nonisolated(unsafe) private var firstDescent: DescentPointer?
private let descentCount = AtomicWord(0)

/// The caller keeps the promise.
@inline(never)
func unlinkInPieces(_ member: RecordPointer, outOf state: borrowing PromiseState) -> Bool {
    var descent = Descent()
    return withUnsafeMutablePointer(to: &descent) { descent in
        enter(descent)
        defer { leave(descent) }
        var look = Look()
        var result = Unlinked.deeper
        while result == .deeper {
            result = withLock(of: state, descent, &look) { unlink(member, from: $0, &$1) }
        }
        var goesOn = result == .out
        while goesOn {
            goesOn = withLock(of: state, descent, &look) { word, look in
                (!word.hasValue && fillFurther(&look, from: word.head), word.head)
            }
        }
        return result == .out
    }
}

/// Does one piece under the lock, and then lets other threads have it.
private func withLock<Result>(
    of state: borrowing PromiseState, _ descent: DescentPointer, _ look: inout Look,
    _ body: (StateWord, inout Look) -> (Result, RecordPointer?)
) -> Result {
    let word = state.lock()
    look.place = RecordPointer(bitPattern: UInt(descent.pointee.place.peek()))
    let (result, head) = body(word, &look)
    descent.pointee.place.poke(UInt64(UInt(bitPattern: look.place)))
    state.unlock(word.phase, head)
    for _ in 0..<16 { vow_platform_relax() }
    return result
}

private func enter(_ descent: DescentPointer) {
    descentsLock.withLock {
        descent.pointee.next = firstDescent
        firstDescent?.pointee.previous = descent
        firstDescent = descent
    }
    _ = descentCount.addRelaxed(1)
}

private func leave(_ descent: DescentPointer) {
    _ = descentCount.addRelaxed(UInt64.max)
    descentsLock.withLock {
        let next = descent.pointee.next
        let previous = descent.pointee.previous
        next?.pointee.previous = previous
        if let previous { previous.pointee.next = next } else { firstDescent = next }
    }
}

/// Moves the looks at a member that is being taken out, under the lock of its promise. Nil: these looks begin anew.
@inline(__always)
func moveDescents(from member: RecordPointer, to before: RecordPointer?) {
    if descentCount.loadRelaxed() != 0 { moveAll(from: member, to: before) }
}

@inline(never)
private func moveAll(from member: RecordPointer, to before: RecordPointer?) {
    descentsLock.withLock {
        var descent = firstDescent
        while let current = descent {
            descent = current.pointee.next
            if current.pointee.place.peek() == UInt64(UInt(bitPattern: member)) {
                current.pointee.place.poke(UInt64(UInt(bitPattern: before)))
            }
        }
    }
}

/// Around a fork.
func lockDescents() { descentsLock.lock() }
func unlockDescents() { descentsLock.unlock() }

/// In a forked child, under the lock: the descents were on stacks that are gone.
func forgetDescents() {
    firstDescent = nil
    descentCount.storeRelaxed(0)
}
