// vow_repeat: an asynchronous loop. Asking whether to go on and taking the step is one piece of
// work.

import CVow

typealias Condition = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool

private struct RepeatFields: ~Copyable {
    let again: Condition
    let step: Handler
    /// Owned. Nobody changes it while work is under way.
    var state: vow_value
    /// Written by the work, read when that has settled.
    var isOver = false
    /// Asked to stop, it only finds out whether the state with which the last step came is the outcome.
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
    let promise = machine.promise
    startMachine(machine, cancelledBy: caller.token, thread)
    return promise
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
        // An object is the outcome itself: returned, it would be asked once more whether it is a thenable.
        return state.kind == VOW_OBJECT ? vow_none() : state.retained()
    }
}

private func clearRepeat(_ machine: MachinePointer, _ thread: ThreadPointer) {
    machine.fields(RepeatFields.self).pointee.state.release(thread)
}
