// vow_map: a function for each item of a list, a bounded number at a time. A lane takes the next
// item when its own is through.

import CVow

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
    /// How far the items under way say they are, all together.
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
    let promise = machine.promise
    startMachine(machine, cancelledBy: caller.token, thread)
    return promise
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
        // The last one has acquired what the others wrote.
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

/// Of an item, which is so far.
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
