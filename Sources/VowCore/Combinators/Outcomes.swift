// What combined promises settle with: lists, errors that say which member failed, and what becomes
// of members where that cannot be made.

import CVow

/// An error VOW_EAGGREGATE with such a list.
func makeAggregate(count: Int, _ message: StaticString, _ thread: ThreadPointer) -> vow_value? {
    guard let list = makeEmptyList(count: count) else { return nil }
    let error = message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            makeOwnError(VOW_EAGGREGATE, $0.baseAddress, payload: list)
        }
    }
    if error == nil { list.release(thread) }
    return error
}

/// Takes a value out of where it was kept.
func handOut(_ kept: inout vow_value) -> vow_value {
    let value = kept
    kept = vow_none()
    return value
}

/// The error (owned) of a combined promise whose member at that place has failed with an error
/// (borrowed).
func memberError(_ error: vow_value, at index: Int) -> vow_value {
    makeErrorCopy(of: error, index: Int64(index)) ?? error.retained()
}

/// Has an error of a group's list say its member's place.
func label(_ error: inout vow_value, at index: Int, _ thread: ThreadPointer) {
    let labelled = memberError(error, at: index)
    error.release(thread)
    error = labelled
}

/// From `told`: a member's error (borrowed) rejects its group.
func rejectGroup(
    with error: vow_value, from observer: RecordPointer, _ thread: ThreadPointer
) {
    let group = group(of: observer)
    if group.isDecided {
        letGo(of: group, 1, thread)
    } else {
        decide(group, memberError(error, at: group.index(of: observer)), by: observer, thread)
    }
}

/// The promise of a new group of members (consumed). What the plan holds is consumed too.
func combine(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ plan: GroupPlan, _ thread: ThreadPointer
) -> RecordPointer {
    guard let group = makeGroup(plan, thread) else {
        plan.outcomes.release(thread)
        return refuseMembers(members, thread)
    }
    let promise = group.promise
    gather(members, in: group, thread)
    return promise
}

/// Gives members (consumed) up; there is no memory for what they were to become.
func refuseMembers(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    releaseMembers(members, thread)
    return promiseWithoutMemory
}

func releaseMembers(_ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer) {
    // All of them, before foreign code hears of any.
    asOneStep(thread) {
        for member in members { RecordPointer(member)?.release(thread) }
    }
}
