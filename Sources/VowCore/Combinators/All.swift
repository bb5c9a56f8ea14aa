// vow_all and vow_all_settled: every member counts.

import CVow

/// Every promise's value; or the first error.
func combineAll(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    combineToList(members, .all, told: memberOfAllTold, thread)
}

/// Every promise's value or error.
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

/// One more value (borrowed). The last one hands the list out: it has acquired what the others
/// wrote.
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
