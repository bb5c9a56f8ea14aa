// What map, reduce, repeat and retry have in common: one promise, and lanes on which one promise
// after the other is waited for, in one piece of memory:
//
//   Record | ProducerPart | Machine | the program's fields | lanes
//
// A program says what comes next on a lane. Its functions run as work of their own, on the
// machine's executor.

import CVow

typealias MachinePointer = UnsafeMutablePointer<Machine>

struct Machine: ~Copyable {
    /// Comes first: observers know the machine by it.
    let owner: ObserverOwner
    let program: Program
    /// The lanes under way, the work that may use the machine, and the maker. While there are any
    /// the machine has one producer's reference and its fields.
    let holds: AtomicWord
    /// Its outcome is decided.
    private let over = AtomicWord(0)
    let laneCount: Int
    /// The user's; the value (owned) keeps it alive.
    let context: UnsafeMutableRawPointer?
    let contextOwner: vow_value
    /// Where work runs, owned, and with which travelling context, owned.
    let executor: ExecutorPointer
    let travelling: vow_value

    fileprivate init(_ plan: MachinePlan, _ thread: ThreadPointer) {
        owner = ObserverOwner(
            told: laneTold, stopped: laneStopped, calledBack: laneCalledBack,
            view: ObserverView(distance: UInt16(machineStart), observed: observedByLane))
        program = plan.program
        holds = AtomicWord(UInt64(plan.lanes) + 1)
        laneCount = plan.lanes
        context = plan.caller.context
        contextOwner = plan.caller.contextOwner
        executor = executorForReaction(plan.caller.executor, thread)
        travelling = thread.pointee.context.retained()
    }

    var isOver: Bool { over.loadRelaxed() != 0 }

    /// True for one caller only.
    fileprivate func endFirst() -> Bool { over.exchangeAcquireRelease(1) == 0 }
}

struct Program {
    /// What the lane is to wait for next (owned); nil: it ends. `settled` (borrowed) is what it has
    /// waited for; nil: nothing so far. Calls no foreign code. Only one call for a lane at a time.
    let next: (_ lane: Lane, _ settled: RecordPointer?, ThreadPointer) -> RecordPointer?
    /// The outcome is decided: what the program has not begun to wait for is to be given up. Calls
    /// no foreign code; a lane may be going on at the same time.
    var giveUp: ((MachinePointer, ThreadPointer) -> Void)?
    /// Nothing uses the machine any more: its fields are to be released.
    let clear: (MachinePointer, ThreadPointer) -> Void
}

struct MachinePlan {
    let kind: TraceKind
    let program: Program
    var lanes = 1
    let caller: Caller
}

/// Whose functions a machine runs, and where.
struct Caller {
    var context: UnsafeMutableRawPointer?
    /// What keeps the context alive, if it is not the caller itself; consumed.
    var contextOwner = vow_none()
    /// Borrowed; nil: that of the calling thread.
    var executor: ExecutorPointer?
}

/// An observer, and what has become of what it looks at.
struct Lane {
    let observer: RecordPointer

    static let size = Observer.size + MemoryLayout<LanePart>.stride

    fileprivate var part: UnsafeMutablePointer<LanePart> {
        (UnsafeMutableRawPointer(observer) + Observer.size).assumingMemoryBound(to: LanePart.self)
    }

    /// The program's own number; for a map, which item is under way.
    var index: Int {
        get { part.pointee.index }
        nonmutating set { part.pointee.index = newValue }
    }

    var machine: MachinePointer {
        UnsafeMutableRawPointer(observer.owner).assumingMemoryBound(to: Machine.self)
    }
}

/// 32 bytes, so that lanes stay aligned to 16.
struct LanePart: ~Copyable {
    /// Each step is taken once: `started`, `told` or both, until the lane goes on; `stopped` for
    /// good.
    fileprivate let steps = AtomicWord(0)
    /// What the lane has waited for, owned, between being told and going on.
    fileprivate var settled: RecordPointer?
    fileprivate var index = 0
    private var padding = 0
}

private enum Step {
    /// The observer looks at a promise, and may be stopped.
    static let started: UInt64 = 1
    /// The promise is settled. Who takes the second of these two steps goes on with the lane.
    static let told: UInt64 = 2
    static let stopped: UInt64 = 4
}

private let machineStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + 15) & ~15
private let fieldsStart = machineStart + (MemoryLayout<Machine>.size + 15) & ~15

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Machine {
    var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - machineStart).assumingMemoryBound(to: Record.self)
    }

    /// The program's.
    func fields<Fields: ~Copyable>(_: Fields.Type) -> UnsafeMutablePointer<Fields> {
        (UnsafeMutableRawPointer(self) + (fieldsStart - machineStart))
            .assumingMemoryBound(to: Fields.self)
    }

    /// Lanes stand at the end.
    func lane(_ index: Int) -> Lane {
        let end = UnsafeMutableRawPointer(promise) + promise.producer.pointee.size
        let observer = end - (pointee.laneCount - index) * Lane.size
        return Lane(observer: observer.assumingMemoryBound(to: Record.self))
    }
}

/// A machine that does nothing yet, with `extra` bytes behind its fields; its promise is the
/// caller's. What the fields own is consumed only when it succeeds. Nil without memory.
func makeMachine<Fields: ~Copyable>(
    _ plan: MachinePlan, _ fields: consuming Fields, extra: Int = 0, _ thread: ThreadPointer
) -> MachinePointer? {
    let size =
        fieldsStart + (MemoryLayout<Fields>.stride + extra + 15) & ~15 + plan.lanes * Lane.size
    let producer = ProducerPart(plan.kind, size: size, owner: machineStart, stop: stopMachine)
    guard let promise = makeProduced(producer, thread) else { return nil }
    let memory = UnsafeMutableRawPointer(promise)
    let machine = (memory + machineStart).bindMemory(to: Machine.self, capacity: 1)
    machine.initialize(to: Machine(plan, thread))
    machine.fields(Fields.self).initialize(to: fields)
    let owner = (memory + machineStart).assumingMemoryBound(to: ObserverOwner.self)
    for index in 0..<plan.lanes {
        let lane = machine.lane(index)
        _ = initialiseObserver(at: lane.observer, owner: owner)
        lane.part.initialize(to: LanePart())
    }
    return machine
}

/// Begins all lanes. The maker's hold is given up.
func startMachine(_ machine: MachinePointer, _ thread: ThreadPointer) {
    asOneStep(thread) {
        for index in 0..<machine.pointee.laneCount { go(on: machine.lane(index), nil, thread) }
        letGo(of: machine, thread)
    }
}

/// Work for the user's function, as a promise to wait for. The machine stays until it is through.
func makeWork(
    for lane: Lane, _ handler: Handler, _ thread: ThreadPointer
) -> RecordPointer {
    let machine = lane.machine
    _ = machine.pointee.holds.addRelaxed(1)
    let here = thread.pointee.context
    thread.pointee.context = machine.pointee.travelling
    let work = makeWorkLater(
        Reaction(
            shape: [.link, .extras, .onFulfilled], handler: handler,
            context: UnsafeMutableRawPointer(lane.observer), executor: machine.pointee.executor,
            extras: LinkExtras(onRejected: nil, destroy: endWork, label: nil)), thread)
    thread.pointee.context = here
    return work
}

/// The lane that work was made for, in its handler.
func laneOfWork(_ context: UnsafeMutableRawPointer?) -> Lane {
    guard let context else { fatal("work has no lane") }
    return Lane(observer: context.assumingMemoryBound(to: Record.self))
}

private func endWork(_ context: UnsafeMutableRawPointer?) {
    letGo(of: laneOfWork(context).machine, currentThread())
}

/// From a program's `next`: decides about the outcome (consumed), if nobody has. The other lanes
/// are stopped. Then `next` must return nil.
func finish(_ lane: Lane, _ value: vow_value, _ thread: ThreadPointer) {
    let machine = lane.machine
    if !machine.pointee.endFirst() {
        value.release(thread)
        return
    }
    if !settle(machine.promise, whileIn: .open, value, ownsProducer: false, thread) {
        value.release(thread)
    }
    if machine.pointee.laneCount > 1 || machine.pointee.program.giveUp != nil {
        _ = machine.pointee.holds.addRelaxed(1)
        callBack(lane.observer, thread)
    }
}

/// Goes on with a lane that nobody else has; a loop while what comes next is settled already.
private func go(on lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer) {
    let machine = lane.machine
    let part = lane.part
    var settled = settled
    while true {
        let hasGoneOn = settled != nil
        let isOver = machine.pointee.isOver
        let next = isOver ? nil : machine.pointee.program.next(lane, settled, thread)
        settled?.release(thread)
        guard let next else {
            letGo(of: machine, thread)
            return
        }
        let isWaiting = observe(next, by: lane.observer, thread)
        // Who has looked through the machine saw what it waited for before.
        if isWaiting && hasGoneOn { nudgeWaitingThreads(past: bit(of: machine.promise)) }
        let before = part.pointee.steps.orAcquireRelease(Step.started)
        if before & Step.told == 0 {
            if before & Step.stopped != 0 && isWaiting {
                // If it is too late for that, the lane is told, and ends.
                stopObserving(lane.observer, cancelling: true, thread)
            }
            return
        }
        settled = takeSettled(part)
    }
}

/// Both steps have been taken.
private func takeSettled(_ part: UnsafeMutablePointer<LanePart>) -> RecordPointer? {
    let settled = part.pointee.settled
    part.pointee.settled = nil
    _ = part.pointee.steps.subtractAcquireRelease(Step.started | Step.told)
    return settled
}

private func laneTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    let lane = Lane(observer: observer)
    promise.retain()
    lane.part.pointee.settled = promise
    if lane.part.pointee.steps.orAcquireRelease(Step.told) & Step.started == 0 { return }
    go(on: lane, takeSettled(lane.part), thread)
}

private func observedByLane(
    _ owner: UnsafeMutablePointer<ObserverOwner>, _ index: Int
) -> Observed {
    let machine = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Machine.self)
    return index < machine.pointee.laneCount ? machine.lane(index).observer.observed : .noMore
}

private func laneStopped(_ observer: RecordPointer, _ thread: ThreadPointer) {
    letGo(of: Lane(observer: observer).machine, thread)
}

/// A lane has decided.
private func laneCalledBack(_ observer: RecordPointer, _ thread: ThreadPointer) {
    let machine = Lane(observer: observer).machine
    stopLanes(of: machine, thread)
    letGo(of: machine, thread)
}

/// The promise was cancelled, or nobody reads it any more. In the second case the machine goes on,
/// as reactions do.
private func stopMachine(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if !promise.pointee.state.read().hasValue { return }
    let machine = (UnsafeMutableRawPointer(promise) + machineStart)
        .assumingMemoryBound(to: Machine.self)
    if machine.pointee.endFirst() { stopLanes(of: machine, thread) }
}

private func stopLanes(of machine: MachinePointer, _ thread: ThreadPointer) {
    for index in 0..<machine.pointee.laneCount {
        let lane = machine.lane(index)
        let before = lane.part.pointee.steps.orAcquireRelease(Step.stopped)
        // Else who goes on with the lane at this moment will see that it is over.
        if before & (Step.started | Step.told) == Step.started {
            stopObserving(lane.observer, cancelling: true, thread)
        }
    }
    machine.pointee.program.giveUp?(machine, thread)
}

private func letGo(of machine: MachinePointer, _ thread: ThreadPointer) {
    if machine.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    machine.pointee.program.clear(machine, thread)
    machine.pointee.contextOwner.release(thread)
    machine.pointee.travelling.release(thread)
    machine.pointee.executor.release(thread)
    machine.promise.releaseProducer(thread)
}
