// The combinators over a list, each a `Group`: every member counts for vow_all and vow_all_settled; the first member that can
// decides vow_any and vow_race; a number of values is enough for vow_some.
//
// vow_some gives as many values, and as many errors, a place as decide, and later ones none. A value waits in its idle
// observer, with a mark; the member that completes a kind collects that kind in the order of the members.

import CVow

// MARK: vow_all and vow_all_settled

func combineAll(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    combineToList(members, .all, told: memberOfAllTold, thread)
}

func combineAllSettled(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    combineToList(members, .allSettled, told: memberOfAllSettledTold, thread)
}

private func combineToList(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ kind: TraceKind,
    told: @escaping (RecordPointer, RecordPointer, ThreadPointer) -> Void, _ thread: ThreadPointer
) -> RecordPointer {
    guard let list = makeEmptyList(count: members.count) else {
        return refuseMembers(members, thread)
    }
    if members.isEmpty { return makePromise(of: list, thread) }
    let plan = GroupPlan(
        kind: kind, told: told, count: members.count, outcomes: Outcomes(success: list),
        values: members.count)
    return combine(members, plan, thread)
}

private func memberOfAllTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    if promise.value.isError {
        rejectGroup(with: promise.value, from: observer, thread)
    } else {
        addToList(promise.value, from: observer, thread)
    }
}

private func memberOfAllSettledTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    addToList(promise.value, from: observer, thread)
}

/// Adds a value (borrowed). The last member has acquired what the others wrote, and hands the list out.
private func addToList(_ value: vow_value, from observer: RecordPointer, _ thread: ThreadPointer) {
    let group = group(of: observer)
    group.values?[group.index(of: observer)] = value.retained()
    let left = group.pointee.valuesLeft.subtractAcquireRelease(1) - 1
    let count = group.pointee.count
    reportShare(count - Int(left), of: count, group.promise, thread)
    if left != 0 {
        letGo(of: group, 1, thread)
        return
    }
    decide(group, handOut(&group.pointee.outcomes.success), by: observer, thread)
}

// MARK: vow_any and vow_race

func combineAny(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    let message: StaticString = "no promise was fulfilled"
    guard let failure = makeAggregate(count: members.count, message, thread) else {
        return refuseMembers(members, thread)
    }
    if members.isEmpty { return makePromise(of: failure, thread) }
    let plan = GroupPlan(
        kind: .any, told: memberOfAnyTold, count: members.count,
        outcomes: Outcomes(failure: failure),
        errors: members.count)
    return combine(members, plan, thread)
}

func combineRace(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    combine(members, GroupPlan(kind: .race, told: memberOfRaceTold, count: members.count), thread)
}

private func memberOfAnyTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    let group = group(of: observer)
    if !promise.value.isError {
        decide(group, promise.value.retained(), by: observer, thread)
        return
    }
    group.errors?[group.index(of: observer)] = promise.value.retained()
    // The last member has acquired what the others wrote.
    if group.pointee.errorsLeft.subtractAcquireRelease(1) != 1 {
        goOnWithoutMember(of: group, thread)
        return
    }
    if let errors = group.errors {
        for index in 0..<group.pointee.count { label(&errors[index], at: index, thread) }
    }
    decide(group, handOut(&group.pointee.outcomes.failure), by: observer, thread)
}

private func memberOfRaceTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    if promise.value.isError {
        rejectGroup(with: promise.value, from: observer, thread)
    } else {
        decide(group(of: observer), promise.value.retained(), by: observer, thread)
    }
}

// MARK: vow_some

private let valueMark: UInt8 = 1
private let errorMark: UInt8 = 2

func combineSome(
    _ members: UnsafeBufferPointer<OpaquePointer?>, wanted: Int, _ thread: ThreadPointer
) -> RecordPointer {
    // This many errors leave too few members.
    let errors = wanted > members.count ? 0 : members.count - wanted + 1
    let message: StaticString = "fewer promises than wanted were fulfilled"
    guard let failure = makeAggregate(count: errors, message, thread) else {
        return refuseMembers(members, thread)
    }
    if errors == 0 { return decideAtOnce(members, failure, thread) }
    guard let success = makeEmptyList(count: wanted) else {
        failure.release(thread)
        return refuseMembers(members, thread)
    }
    if wanted == 0 {
        failure.release(thread)
        return decideAtOnce(members, success, thread)
    }
    let plan = GroupPlan(
        kind: .some, told: memberOfSomeTold, count: members.count,
        outcomes: Outcomes(success: success, failure: failure), values: wanted, errors: errors,
        isMarked: true)
    return combine(members, plan, thread)
}

/// Settles the promise at once: no member is needed.
private func decideAtOnce(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ outcome: vow_value, _ thread: ThreadPointer
) -> RecordPointer {
    var promise: RecordPointer!
    asOneStep(thread) {
        promise = makePromise(of: outcome, thread)
        for member in members {
            if let member = RecordPointer(member) { giveUpMember(member, thread) }
        }
    }
    return promise
}

private func memberOfSomeTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    let group = group(of: observer)
    let kind = promise.value.isError ? errorMark : valueMark
    if place(promise.value, kind, from: observer) {
        let outcome = collect(kind, of: group, thread)
        decide(group, outcome, by: observer, thread)
    } else {
        goOnWithoutMember(of: group, thread)
    }
}

/// Gives an outcome (borrowed) a place if one is left. Returns true for the last place: the others are written and acquired.
private func place(_ value: vow_value, _ kind: UInt8, from observer: RecordPointer) -> Bool {
    let group = group(of: observer)
    let isPlaced =
        kind == errorMark
        ? group.pointee.errorsPlaced.addRelaxed(1) < group.pointee.errorsNeeded
        : group.pointee.valuesPlaced.addRelaxed(1) < group.pointee.valuesNeeded
    if !isPlaced { return false }
    observer.value = value.retained()
    group.mark(group.index(of: observer)).pointee.insert(kind)
    return kind == errorMark
        ? group.pointee.errorsLeft.subtractAcquireRelease(1) == 1
        : group.pointee.valuesLeft.subtractAcquireRelease(1) == 1
}

/// The group's outcome, made of the members' outcomes of one kind.
private func collect(
    _ kind: UInt8, of group: GroupPointer, _ thread: ThreadPointer
) -> vow_value {
    guard let items = kind == errorMark ? group.errors : group.values else {
        fatal("a combined promise has no list")
    }
    var next = 0
    for index in 0..<group.pointee.count where group.mark(index).pointee.contains(kind) {
        items[next] = group.observer(index).value
        if kind == errorMark { label(&items[next], at: index, thread) }
        next += 1
    }
    group.pointee.marksHandedOut = kind
    // Late members read the group meanwhile. So nothing of it is passed by `&`, which claims all of it; these stores touch
    // fields that no other thread uses.
    let outcomes = group.pointee.outcomes
    if kind == errorMark {
        group.pointee.outcomes.failure = vow_none()
        return outcomes.failure
    }
    group.pointee.outcomes.success = vow_none()
    return outcomes.success
}

/// Releases the outcomes that were not handed out. No thread uses the group any more.
func releaseMarked(_ group: GroupPointer, _ thread: ThreadPointer) {
    for index in 0..<group.pointee.count {
        let mark = group.mark(index).pointee.snapshot
        if mark != 0 && mark != group.pointee.marksHandedOut {
            group.observer(index).value.release(thread)
        }
    }
}
