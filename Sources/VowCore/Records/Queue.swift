// First-in first-out lists of members, linked through the members' own memory, and taking one member out of the middle.
//
// A promise's queue is a stack linked by `next`, so that entering the queue is one compare-and-exchange. Leaving it from
// the middle needs the member before, so members have a `wayBack`, which the thread that takes a member out fills in under
// the promise's lock. The lock is held for a piece of the queue at a time: `Descent` remembers where the look stands.

import CVowPlatform

/// Of reactions and observers, linked by their lanes: their slots are free meanwhile, so a cancellation can
/// settle them where they stand.
struct MemberList {
    private(set) var first: RecordPointer?
    private(set) var last: RecordPointer?

    init() {}

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

    /// Takes one member out of the middle, looking at no more than `limit` members.
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

    /// The members of a stack (newest first) that is linked by lanes, oldest first.
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

/// Of observers, linked by their lanes, and of cancelled promises of the library's own making, linked by their slots, in which
/// the second half has the error to come.
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

/// Of members on their way from one queue to another or to their outcome, linked by their slots. Whoever has
/// one cancelled meanwhile waits until it `isOut`, so no foreign code runs before the list is empty.
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

    /// The members of a queue (newest first), oldest first.
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
// The `wayBack` is filled in only when a thread needs it: from the newest member down to the one that is wanted, and as far
// again. So a member that is wanted among the newest never pays for all that stand below; and each time that a way has to
// be gone again, to a member further down, it ends twice as deep: a member is visited a few times, however many are taken
// out.
//
// The promise is locked meanwhile, so a member that is wanted further down is looked for in pieces: `Descent`.

/// As the way back of the newest member.
private var top: RecordPointer? {
    @inline(__always) get { RecordPointer(bitPattern: 1) }
}

/// What has come of a piece of a look.
enum Unlinked {
    case out, notThere, deeper
}

/// How far down a look has come.
struct Look {
    /// The last member whose way back is filled in; nil: it is at the top.
    var place: RecordPointer?
    /// How many members it came past; once the wanted one is found, how many more it is to come past.
    var depth = 0

    /// How many in one go.
    static var piece: Int {
        #if VOW_SCHEDULES
            return 2
        #else
            return 256
        #endif
    }
}

/// Takes a member out of a promise's queue. False: it is not there.
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
    // It was found in one piece, so this is no longer.
    if rest.result == .out { _ = fillFurther(&look, from: rest.head) }
    state.unlock(word.phase, rest.head)
    return rest.result == .deeper ? unlinkInPieces(member, outOf: state) : rest.result == .out
}

/// One piece of the look for a member, under the lock; takes it out where it is found. Returns the new head.
func unlink(_ member: RecordPointer, from word: StateWord, _ look: inout Look) -> (
    result: Unlinked, head: RecordPointer?
) {
    if word.head == member { return (.out, remove(member, behind: nil, head: word.head)) }
    // Members that came after the settling were never looked at: their ways back are not filled in, and those
    // of members that have been taken are not theirs any more.
    if word.hasValue {
        let rest = search(member, from: word)
        return (rest.found ? .out : .notThere, rest.head)
    }
    if let before = member.wayBack, before != top {
        look.depth = 0
        return (.out, remove(member, behind: before, head: word.head))
    }
    // It was the newest when its way back was filled in, or it has none.
    let result = fill(&look, from: word.head, downTo: member)
    if result != .out { return (result, word.head) }
    return (.out, remove(member, behind: look.place, head: word.head))
}

/// Without any way back: also in a forked child, where another thread of the parent may have been filling them in.
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

/// Found (`out`): it stands behind the look's place.
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

/// A piece of the way below the member that was found, to where ways back are known. False: there is no more of it.
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
// The way back says which member stands before this one, so that one can be taken out of the middle.
//
// Links and observers have a lane for it. A record without one, a plain promise that follows or a waiting thread, has
// it in the 48 bits that are free while it is a member: the high half of the word of `next`, which is then marked, and
// the place of `inlineLeft`, which is needed when the record has a value. An address with more bits than user space has
// (tagged, or of 57 bits) does not fit: such a member is looked for from the top.

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Under the lock of the promise. Nil: not known yet; see `unlink`.
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

    /// Changes who comes next, under the lock, and keeps the way back.
    func relink(to after: RecordPointer?) {
        let before = pointee.shape.hasLane ? nil : wayBack
        next = after
        if let before { wayBack = before }
    }

    /// It is in no queue any more, or not yet.
    @inline(__always)
    func forgetPlace() {
        if pointee.shape.hasLane { lane = nil } else { unmark() }
    }

    /// Of a member that was taken out of its queue, and whose lane may be another list's by now: what stands in the slot
    /// and in the place of `inlineLeft` is forgotten.
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

/// The word of `next`: an address; or, marked, an address of 48 bits and 16 bits of another one. packaging/gdb knows it,
/// too.
struct NextWord {
    let bits: UInt64

    private static let mark: UInt64 = 2
    private static let addressMask: UInt64 = 0x0000_ffff_ffff_fff0

    @inline(__always)
    init(_ bits: UInt64) { self.bits = bits }

    /// Nil: one of the addresses does not fit.
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
// A look for a member far down in a queue: the promise is unlocked after each piece, so that no thread waits for the whole
// of the look.
//
// In between, the member where the look stands may be taken out by another thread. A thread that takes a member out moves the
// looks that stand there to the member before, so it asks, under the lock, whether there are any looks in pieces.

private typealias DescentPointer = UnsafeMutablePointer<Descent>

/// On the stack of the looking thread, and in a list.
private struct Descent: ~Copyable {
    /// `Look.place`, while the promise is not locked. Written under its lock. Who takes members out of other queues reads
    /// it, too, and finds that it is none of theirs.
    let place = AtomicWord(0)
    var next: DescentPointer?
    var previous: DescentPointer?
}

private let descentsLock = SpinLock()
nonisolated(unsafe) private var firstDescent: DescentPointer?
/// Who locks a promise after a descent has unlocked it finds that one counted.
private let descentCount = AtomicWord(0)

/// See `unlink`. The caller keeps the promise.
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

/// One piece, and then the others' turn.
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

/// A member is being taken out, under the lock of its promise. Nil: the looks that stand there begin anew.
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

/// In a forked child, under the lock: they were other threads', whose stacks are gone.
func forgetDescents() {
    firstDescent = nil
    descentCount.storeRelaxed(0)
}
