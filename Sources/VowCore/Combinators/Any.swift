// vow_any and vow_race: the first member that can decide does.

import CVow

/// The first value; or, when there is none, all errors.
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

/// What the first one to settle does.
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
    // The last one has acquired what the others wrote.
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
