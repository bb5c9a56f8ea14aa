// vow_using: a resource that is released, however its use ends. One lane waits for the resource, for its use and for its
// release, one after the other.
//
// Cancelling stops the first two, and never the last. A resource that arrives after a cancellation is released unused: the lane
// still waits for the cancelled promise.

import CVow

private enum UsingStage: UInt64 {
    case acquiring, inUse, releasing
}

private struct UsingFields: ~Copyable {
    /// The resource's promise, owned until the lane waits for it.
    var promise: RecordPointer?
    let use: Handler
    let release: Handler
    /// The work that releases the resource, made beforehand because memory may be short then; owned until it is under way.
    var releasing: RecordPointer?
    /// Written by the thread that goes on with the lane, before it looks at the next promise; read by threads that found
    /// that promise.
    let stage = AtomicWord(UsingStage.acquiring.rawValue)
    /// Both owned. `outcome` is that of the use; without a use, a cancellation.
    var resource = vow_none()
    var outcome = ownErrors.cancelled
    var isUsed = false
}

/// - Parameter promise: the resource's, consumed.
func useResource(
    _ promise: RecordPointer, _ use: @escaping Handler, _ release: @escaping Handler,
    for caller: Caller, _ thread: ThreadPointer
) -> RecordPointer {
    let plan = MachinePlan(
        kind: .using,
        program: Program(
            next: nextOfUsing, mayBeStopped: { stage(of: $0) != .releasing }, cleansUp: true,
            asks: { stage(of: $0) == .acquiring }, clear: clearUsing),
        caller: caller)
    let fields = UsingFields(promise: promise, use: use, release: release)
    guard let machine = makeMachine(plan, fields, thread) else {
        giveUpMember(promise, thread)
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    let lane = machine.lane(0)
    let releasing = reserveWork(for: lane, runRelease, thread)
    if releasing == nil {
        machine.fields(UsingFields.self).pointee.promise = nil
        giveUpMember(promise, thread)
    }
    machine.fields(UsingFields.self).pointee.releasing = releasing
    return startMachine(machine, cancelledBy: caller.token, thread)
}

private func nextOfUsing(
    _ lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    let using = lane.machine.fields(UsingFields.self)
    guard let settled else {
        guard let promise = using.pointee.promise else {
            finish(lane, ownErrors.noMemory, thread)
            return nil
        }
        using.pointee.promise = nil
        lane.waits = .forGiven
        return promise
    }
    switch UsingStage(rawValue: using.pointee.stage.loadRelaxed()) {
    case .acquiring:
        if settled.value.isError {
            finish(lane, settled.value.retained(), thread)
            return nil
        }
        using.pointee.resource = settled.value.retained()
        if lane.machine.pointee.isOver { return beginRelease(lane, using, thread) }
        using.pointee.stage.storeRelaxed(UsingStage.inUse.rawValue)
        let work = makeWork(for: lane, runUse, thread)
        if isWatched { notePart(work, .inUse, of: lane.machine.promise) }
        return work
    case .inUse:
        using.pointee.outcome = settled.value.retained()
        return beginRelease(lane, using, thread)
    case .releasing, nil:
        let isLost = lane.machine.pointee.isOver || using.pointee.outcome.isError
        let outcome = using.pointee.outcome
        using.pointee.outcome = vow_none()
        if !settled.value.isError {
            finish(lane, outcome, thread)
        } else if isLost {
            // The promise gets another error, so this one is reported as unhandled.
            settled.pointee.isObserved.clear()
            finish(lane, outcome, thread)
        } else {
            outcome.release(thread)
            finish(lane, settled.value.retained(), thread)
        }
        return nil
    }
}

private func beginRelease(
    _ lane: Lane, _ using: UnsafeMutablePointer<UsingFields>, _ thread: ThreadPointer
) -> RecordPointer? {
    using.pointee.stage.storeRelaxed(UsingStage.releasing.rawValue)
    guard let work = using.pointee.releasing else { fatal("a resource is released twice") }
    using.pointee.releasing = nil
    if isWatched { notePart(work, .releasing, of: lane.machine.promise) }
    begin(work, for: lane, thread)
    return work
}

private func stage(of lane: Lane) -> UsingStage? {
    UsingStage(rawValue: lane.machine.fields(UsingFields.self).pointee.stage.loadRelaxed())
}

private func runUse(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let using = machine.fields(UsingFields.self)
    using.pointee.isUsed = true
    return callWithLoan(using.pointee.resource) { using.pointee.use($0, machine.pointee.context) }
}

private func runRelease(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let using = machine.fields(UsingFields.self)
    return callWithLoan(using.pointee.resource) {
        using.pointee.release($0, machine.pointee.context)
    }
}

/// The end of the use, borrowed, while the release runs. Nil anywhere else.
func endOfUse(_ thread: ThreadPointer) -> (isUsed: Bool, outcome: vow_value)? {
    guard let work = thread.pointee.frame?.pointee.reaction, work.pointee.shape.contains(.link),
        let handler = work.link.pointee.handler, address(of: handler) == address(of: runRelease)
    else { return nil }
    let using = laneOfWork(work.link.pointee.context).machine.fields(UsingFields.self)
    return (using.pointee.isUsed, using.pointee.outcome)
}

private func clearUsing(_ machine: MachinePointer, _ thread: ThreadPointer) {
    let using = machine.fields(UsingFields.self)
    if let work = using.pointee.releasing { giveBackWork(work, thread) }
    using.pointee.promise?.release(thread)
    using.pointee.resource.release(thread)
    using.pointee.outcome.release(thread)
}
