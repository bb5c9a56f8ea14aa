// Taking a member out of the middle of a promise's queue, under its lock.
//
// The queue is a stack linked by `next`, so that entering it is one compare-and-exchange. The way back, `lane`, is
// filled in only when somebody needs it: from the newest member down to the first that has one. What lies below
// was filled in by an earlier call, and only new members have come on top, so each member is visited once
// however many are taken out. Members without a lane (waiting threads, promises that follow without having been
// reactions) are looked for from the top.

/// As `lane` of the newest member.
private var top: RecordPointer? {
    @inline(__always) get { RecordPointer(bitPattern: 1) }
}

/// Takes a member out, if it is there. Returns the new head.
func unlink(_ member: RecordPointer, from word: StateWord) -> (found: Bool, head: RecordPointer?) {
    // Members that came after the settling were never looked at: their ways back are not filled in, and those
    // of members that have been taken are not theirs any more.
    if word.hasValue || !member.pointee.shape.hasLane { return search(member, from: word) }
    fillLanes(from: word.head)
    guard let lane = member.lane else { return (false, word.head) }
    return (true, remove(member, behind: lane == top ? nil : lane, head: word.head))
}

private func search(_ member: RecordPointer, from word: StateWord) -> (
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

private func remove(
    _ member: RecordPointer, behind before: RecordPointer?, head: RecordPointer?
) -> RecordPointer? {
    let after = member.next
    if let after, after.pointee.shape.hasLane, after.lane != nil { after.lane = before ?? top }
    member.forgetPlace()
    guard let before else { return after }
    before.next = after
    return head
}

private func fillLanes(from head: RecordPointer?) {
    var before: RecordPointer?
    var current = head
    while let here = current {
        if here.pointee.shape.hasLane {
            let isKnown = here.lane != nil
            here.lane = before ?? top
            if isKnown { return }
        }
        before = here
        current = here.next
    }
}
