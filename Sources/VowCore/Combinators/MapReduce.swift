// The machines over items and steps: vow_map, vow_reduce and vow_repeat.
//
// vow_map calls a function for each item of a list, a bounded number at a time: a lane takes the next item when its last one is
// done. vow_reduce waits for one promise after the other, and adds each value to the accumulated one. vow_repeat is an
// asynchronous loop: one piece of work asks whether to go on and takes the step.

import CVow

// MARK: vow_map

private struct MapFields: ~Copyable {
    let fn: Handler
    /// Both owned.
    let list: vow_value
    var results: vow_value
    let count: Int
    /// The first item that no lane has taken.
    let next = AtomicWord(0)
    /// Items without a result.
    let left: AtomicWord
    /// The sum of the progress of the items under way.
    let partial = AtomicWord(0)
}

/// - Parameter list: consumed.
func mapList(
    _ list: vow_value, _ fn: @escaping Handler, for caller: Caller, concurrency: Int,
    _ thread: ThreadPointer
) -> RecordPointer {
    let count = list.box(of: VOW_LIST)?.part(ListPart.self).pointee.count ?? 0
    guard count <= mostMembers, let results = makeEmptyList(count: count) else {
        list.release(thread)
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    if count == 0 {
        list.release(thread)
        caller.giveUp(thread)
        return makePromise(of: results, thread)
    }
    let plan = MachinePlan(
        kind: .map, program: Program(next: nextOfMap, share: shareOfMap, clear: clearMap),
        lanes: concurrency == 0 ? count : min(concurrency, count), caller: caller)
    let fields = MapFields(
        fn: fn, list: list, results: results, count: count, left: AtomicWord(UInt64(count)))
    guard let machine = makeMachine(plan, fields, thread) else {
        list.release(thread)
        results.release(thread)
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    return startMachine(machine, cancelledBy: caller.token, thread)
}

private func nextOfMap(
    _ lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    let map = lane.machine.fields(MapFields.self)
    if let result = settled?.value {
        if result.isError {
            finish(lane, memberError(result, at: lane.index), thread)
            return nil
        }
        map.pointee.results.box?.items[lane.index] = result.retained()
        note(0, of: lane, map)
        // The last lane has acquired what the others wrote.
        let left = map.pointee.left.subtractAcquireRelease(1) - 1
        let count = map.pointee.count
        reportShare(count - Int(left), of: count, lane.machine.promise, thread)
        if left == 0 {
            finish(lane, handOut(&map.pointee.results), thread)
            return nil
        }
    }
    let index = Int(map.pointee.next.addRelaxed(1))
    if index >= map.pointee.count { return nil }
    lane.index = index
    return makeWork(for: lane, runItem, thread)
}

/// Adds the progress of an item, and returns that of the whole.
private func shareOfMap(_ lane: Lane, _ fraction: Double) -> Double {
    let map = lane.machine.fields(MapFields.self)
    note(fraction, of: lane, map)
    let done = map.pointee.count - Int(map.pointee.left.loadRelaxed())
    let partial = Double(map.pointee.partial.loadRelaxed()) / Double(UInt32.max)
    return (Double(done) + partial) / Double(map.pointee.count)
}

private func note(_ fraction: Double, of lane: Lane, _ map: UnsafeMutablePointer<MapFields>) {
    let told = UInt32(fraction * Double(UInt32.max))
    if told == lane.told { return }
    _ = map.pointee.partial.addRelaxed(UInt64(told) &- UInt64(lane.told))
    lane.told = told
}

private func runItem(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let lane = laneOfWork(context)
    let map = lane.machine.fields(MapFields.self)
    guard let items = map.pointee.list.box(of: VOW_LIST)?.items else { fatal("a map has no list") }
    let item = items[lane.index]
    return callWithLoan(item) { map.pointee.fn($0, lane.machine.pointee.context) }
}

private func clearMap(_ machine: MachinePointer, _ thread: ThreadPointer) {
    let map = machine.fields(MapFields.self)
    map.pointee.list.release(thread)
    map.pointee.results.release(thread)
}

// MARK: vow_reduce

typealias Reducer = @convention(c) (vow_value, vow_value, UnsafeMutableRawPointer?) -> vow_value

/// The promises follow the fields; promises from `next` on are owned.
private struct ReduceFields: ~Copyable {
    let fn: Reducer
    let count: Int
    /// The first promise that the lane has not taken; a number beyond the end: the rest was given up.
    let next = AtomicWord(0)
    /// Both owned, and constant while work is under way.
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
        // The lane will see the rejection, or it does not matter any more.
        member.pointee.isObserved.set()
        (copies + index).initialize(to: member)
    }
    return startMachine(machine, cancelledBy: caller.token, thread)
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
        // The rest was given up, but the last promise was taken.
        if lane.machine.pointee.isOver && lane.index == fields.pointee.count - 1 {
            finish(lane, handOut(&fields.pointee.accumulated), thread)
            return nil
        }
    }
    let count = fields.pointee.count
    let index = Int(fields.pointee.next.addRelaxed(1))
    // The promise was given up meanwhile.
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

// MARK: vow_repeat

typealias Condition = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool

private struct RepeatFields: ~Copyable {
    let again: Condition
    let step: Handler
    /// Owned, and constant while work is under way.
    var state: vow_value
    /// Written by the work, read when that has settled.
    var isOver = false
    /// Set when the machine is asked to stop: the work only asks whether the last step's state is the outcome.
    let takesNoStep = AtomicMark()

    init(again: @escaping Condition, step: @escaping Handler, state: vow_value) {
        self.again = again
        self.step = step
        self.state = state
    }
}

/// - Parameter state: consumed.
func repeatSteps(
    from state: vow_value, while again: @escaping Condition, _ step: @escaping Handler,
    for caller: Caller, _ thread: ThreadPointer
) -> RecordPointer {
    let plan = MachinePlan(
        kind: .repeat,
        program: Program(
            next: nextOfRepeat,
            mayBeStopped: { !$0.machine.fields(RepeatFields.self).pointee.takesNoStep.isSet },
            decides: { _ in true }, clear: clearRepeat),
        caller: caller)
    let fields = RepeatFields(again: again, step: step, state: state)
    guard let machine = makeMachine(plan, fields, thread) else {
        state.release(thread)
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    return startMachine(machine, cancelledBy: caller.token, thread)
}

private func nextOfRepeat(
    _ lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    let fields = lane.machine.fields(RepeatFields.self)
    if let result = settled?.value {
        if result.isError || fields.pointee.isOver {
            let isOver = !result.isError && fields.pointee.state.kind == VOW_OBJECT
            finish(lane, (isOver ? fields.pointee.state : result).retained(), thread)
            return nil
        }
        fields.pointee.state.release(thread)
        fields.pointee.state = result.retained()
        if lane.machine.pointee.isOver { fields.pointee.takesNoStep.set() }
    }
    return makeWork(for: lane, runStep, thread)
}

private func runStep(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let fields = machine.fields(RepeatFields.self)
    let state = fields.pointee.state
    let context = machine.pointee.context
    return callWithLoan(state) { lent in
        if keepingContext({ fields.pointee.again(lent, context) }) {
            if fields.pointee.takesNoStep.isSet { return ownErrors.cancelled }
            return fields.pointee.step(lent, context)
        }
        fields.pointee.isOver = true
        // An object is not returned, because the library would ask again whether it is a thenable; `nextOfRepeat` takes the
        // state.
        return state.kind == VOW_OBJECT ? vow_none() : state.retained()
    }
}

private func clearRepeat(_ machine: MachinePointer, _ thread: ThreadPointer) {
    machine.fields(RepeatFields.self).pointee.state.release(thread)
}
