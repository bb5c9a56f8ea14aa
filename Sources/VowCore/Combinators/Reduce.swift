// vow_reduce: one promise after the other, each value added to what has accumulated.

import CVow

typealias Reducer = @convention(c) (vow_value, vow_value, UnsafeMutableRawPointer?) -> vow_value

/// The promises follow; those from `next` on are owned.
private struct ReduceFields: ~Copyable {
    let fn: Reducer
    let count: Int
    /// The first promise that the lane has not taken; beyond the end: the rest was given up.
    let next = AtomicWord(0)
    /// Both owned. Nobody changes them while work is under way.
    var accumulated: vow_value
    var item = vow_none()
    /// The lane waits for the function's result, and not for a promise of the array.
    var isAdding = false
}

private func promises(of fields: UnsafeMutablePointer<ReduceFields>)
    -> UnsafeMutablePointer<RecordPointer>
{
    UnsafeMutableRawPointer(fields + 1).assumingMemoryBound(to: RecordPointer.self)
}

/// - Parameters: members and initial are consumed.
func reduce(
    _ members: UnsafeBufferPointer<OpaquePointer?>, from initial: vow_value,
    _ fn: @escaping Reducer, for caller: Caller, _ thread: ThreadPointer
) -> RecordPointer {
    if members.isEmpty {
        caller.giveUp(thread)
        return makePromise(of: initial, thread)
    }
    let plan = MachinePlan(
        kind: .reduction,
        program: Program(
            next: nextOfReduce, giveUp: giveUpRest, decides: isLastSum, share: shareOfReduce,
            clear: clearReduce),
        caller: caller)
    let fields = ReduceFields(fn: fn, count: members.count, accumulated: initial)
    let size = members.count * MemoryLayout<RecordPointer>.stride
    guard let machine = makeMachine(plan, fields, extra: size, thread) else {
        initial.release(thread)
        caller.giveUp(thread)
        return refuseMembers(members, thread)
    }
    let copies = promises(of: machine.fields(ReduceFields.self))
    for index in 0..<members.count {
        guard let member = RecordPointer(members[index]) else { continue }
        // Its rejection will be seen, or is no news any more.
        member.pointee.isObserved.set()
        (copies + index).initialize(to: member)
    }
    let promise = machine.promise
    startMachine(machine, cancelledBy: caller.token, thread)
    return promise
}

private func nextOfReduce(
    _ lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    let fields = lane.machine.fields(ReduceFields.self)
    if let value = settled?.value {
        if value.isError {
            finish(lane, memberError(value, at: lane.index), thread)
            return nil
        }
        if !fields.pointee.isAdding {
            fields.pointee.isAdding = true
            fields.pointee.item = value.retained()
            return makeWork(for: lane, runReducer, thread)
        }
        fields.pointee.isAdding = false
        handOut(&fields.pointee.item).release(thread)
        fields.pointee.accumulated.release(thread)
        fields.pointee.accumulated = value.retained()
        // The rest was given up, but there is none.
        if lane.machine.pointee.isOver && lane.index == fields.pointee.count - 1 {
            finish(lane, handOut(&fields.pointee.accumulated), thread)
            return nil
        }
    }
    let count = fields.pointee.count
    let index = Int(fields.pointee.next.addRelaxed(1))
    // It was given up meanwhile.
    if index > count { return nil }
    if index > 0 { reportShare(index, of: count, lane.machine.promise, thread) }
    if index == count {
        finish(lane, handOut(&fields.pointee.accumulated), thread)
        return nil
    }
    lane.index = index
    return promises(of: fields)[index]
}

private func isLastSum(_ lane: Lane) -> Bool {
    let fields = lane.machine.fields(ReduceFields.self)
    return fields.pointee.isAdding && lane.index == fields.pointee.count - 1
}

private func shareOfReduce(_ lane: Lane, _ fraction: Double) -> Double {
    let count = lane.machine.fields(ReduceFields.self).pointee.count
    return (Double(lane.index) + fraction) / Double(count)
}

private func runReducer(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let fields = machine.fields(ReduceFields.self)
    return callWithLoan(fields.pointee.accumulated) { accumulated in
        callWithLoan(fields.pointee.item) { item in
            fields.pointee.fn(accumulated, item, machine.pointee.context)
        }
    }
}

private func giveUpRest(_ machine: MachinePointer, _ thread: ThreadPointer) {
    let fields = machine.fields(ReduceFields.self)
    let count = fields.pointee.count
    let first = Int(fields.pointee.next.exchangeAcquireRelease(UInt64(count) + 1))
    if first >= count { return }
    for index in first..<count { giveUpMember(promises(of: fields)[index], thread) }
}

private func clearReduce(_ machine: MachinePointer, _ thread: ThreadPointer) {
    let fields = machine.fields(ReduceFields.self)
    fields.pointee.accumulated.release(thread)
    fields.pointee.item.release(thread)
}
