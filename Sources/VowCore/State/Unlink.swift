// Taking a member out of the middle of a promise's queue, under its lock.
//
// The queue is a stack linked by `next`, so that entering it is one compare-and-exchange. The way back, `lane`, is
// filled in only when somebody needs it: from the newest member down to the one that is wanted, and as far again. So who
// is wanted among the newest never pays for all that stand below; and each time that a way has to be gone again, to
// somebody further down, it ends twice as deep: a member is visited a few times, however many are taken out. Members
// without a lane (waiting threads, promises that follow without having been reactions) are looked for from the top.

/// As `lane` of the newest member.
private var top: RecordPointer? {
    @inline(__always) get { RecordPointer(bitPattern: 1) }
}

/// Takes a member out, if it is there. Returns the new head.
func unlink(_ member: RecordPointer, from word: StateWord) -> (found: Bool, head: RecordPointer?) {
    if word.head == member { return (true, remove(member, behind: nil, head: word.head)) }
    // Members that came after the settling were never looked at: their ways back are not filled in, and those
    // of members that have been taken are not theirs any more.
    if word.hasValue || !member.pointee.shape.hasLane { return search(member, from: word) }
    if let lane = member.lane, lane != top {
        return (true, remove(member, behind: lane, head: word.head))
    }
    // It was the newest when its way back was filled in, or it has none.
    guard fillLanes(from: word.head, downTo: member), let lane = member.lane else {
        return (false, word.head)
    }
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

/// False: the member is not there.
private func fillLanes(from head: RecordPointer?, downTo member: RecordPointer) -> Bool {
    var before: RecordPointer?
    var current = head
    var steps = 0
    while let here = current, here != member {
        fillLane(of: here, before)
        before = here
        current = here.next
        steps += 1
    }
    if current == nil { return false }
    while let here = current, steps >= 0 {
        let isKnown = here != member && here.pointee.shape.hasLane && here.lane != nil
        fillLane(of: here, before)
        if isKnown { break }
        before = here
        current = here.next
        steps -= 1
    }
    return true
}

private func fillLane(of member: RecordPointer, _ before: RecordPointer?) {
    if member.pointee.shape.hasLane { member.lane = before ?? top }
}
