// Taking a member out of the middle of a promise's queue.
//
// The queue is a stack linked by `next`, so that entering it is one compare-and-exchange. The `wayBack` is
// filled in only when somebody needs it: from the newest member down to the one that is wanted, and as far again. So who
// is wanted among the newest never pays for all that stand below; and each time that a way has to be gone again, to
// somebody further down, it ends twice as deep: a member is visited a few times, however many are taken out.
//
// The promise is locked meanwhile, so who is wanted further down is looked for in pieces: `Descent`.

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
