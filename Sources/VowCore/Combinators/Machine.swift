// What map, reduce, repeat, retry and using have in common: one promise, and lanes on which one promise after the other is
// waited for, in one piece of memory:
//
//   Record | ProducerPart | Machine | the program's fields | lanes
//
// A program says what comes next on a lane. Its functions run as work of their own, on the machine's executor; in a checked
// build their input is lent, as a handler's is.

import CVow

typealias MachinePointer = UnsafeMutablePointer<Machine>

struct Machine: ~Copyable {
    /// Comes first: observers know the machine by it.
    let owner: ObserverOwner
    let program: Program
    /// The lanes under way, the work that may use the machine, and the maker. While there are any
    /// the machine has one producer's reference and its fields.
    let holds: AtomicWord
    /// Its outcome is decided: no further call begins. See `Over`.
    private let over = AtomicWord(Over.no)
    /// That outcome, owned; of who has decided, and then of the last one to let go. Of one that is cancelled: the lane's that
    /// would have decided.
    var outcome = ownErrors.cancelled
    let laneCount: Int
    /// The user's; the value (owned) keeps it alive, or it is to be destroyed.
    let context: UnsafeMutableRawPointer?
    let contextOwner: vow_value
    let destroy: Destroy?
    /// Calls that, owned until the machine has ended.
    fileprivate var ending: HookPointer?
    /// Where work runs, owned, and what travels along, owned.
    let executor: ExecutorPointer
    let travelling: Surroundings
    /// With its token.
    fileprivate var enrolment: UnsafeMutablePointer<Enrolment>?

    fileprivate init(_ plan: MachinePlan, _ thread: ThreadPointer) {
        owner = ObserverOwner(
            told: laneTold, stopped: laneStopped, calledBack: laneCalledBack,
            view: ObserverView(distance: UInt16(machineStart), observed: observedByLane))
        program = plan.program
        holds = AtomicWord(UInt64(plan.lanes) + 1)
        laneCount = plan.lanes
        context = plan.caller.context
        contextOwner = plan.caller.contextOwner
        destroy = plan.caller.destroy
        executor = executorForReaction(plan.caller.executor, thread)
        travelling = surroundingsHere(thread)
    }

    var isOver: Bool { over.loadRelaxed() != Over.no }

    /// It was asked to stop: see `ask`.
    fileprivate var keepsValue: Bool { over.loadRelaxed() == Over.asked }

    /// True for one caller only.
    fileprivate func endFirst(_ how: UInt64 = Over.yes) -> Bool {
        over.replaceAcquireRelease(Over.no, how).exchanged
    }
}

private enum Over {
    static let no: UInt64 = 0
    static let yes: UInt64 = 1
    static let asked: UInt64 = 2
}

struct Program {
    /// What the lane is to wait for next (owned); nil: it ends. `settled` (borrowed) is what it has
    /// waited for; nil: nothing so far. Calls no foreign code. Only one call for a lane at a time.
    let next: (_ lane: Lane, _ settled: RecordPointer?, ThreadPointer) -> RecordPointer?
    /// The outcome is decided: what the program has not begun to wait for is to be given up. Calls
    /// no foreign code; a lane may be going on at the same time.
    var giveUp: ((MachinePointer, ThreadPointer) -> Void)?
    /// Whether what a lane waits for may be cancelled, and is not to be waited for to its end.
    var mayBeStopped: (Lane) -> Bool = { _ in true }
    /// `next` is asked also when the outcome is decided.
    var cleansUp = false
    /// Whether the promise that a lane waits for is asked to stop, and not cancelled.
    var asks: (Lane) -> Bool = { _ in false }
    /// Whether a value with which this comes would be the outcome.
    var decides: (Lane) -> Bool = { _ in false }
    /// What share of the whole it is that a call on a lane says of its own; nil: it is said of the whole.
    var share: ((Lane, Double) -> Double)?
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
    /// Borrowed. Cancelled, it cancels the machine.
    var token: SourcePointer?
    /// What keeps the context alive, if it is not the caller itself; consumed.
    var contextOwner = vow_none()
    /// Called with the context when no function runs any more and none is to come, before the promise settles.
    var destroy: Destroy?
    /// Borrowed; nil: that of the calling thread.
    var executor: ExecutorPointer?
    var label: UnsafePointer<CChar>?

    /// There is no machine.
    func giveUp(_ thread: ThreadPointer) {
        contextOwner.release(thread)
        if let destroy { runForeign(thread) { destroy(context) } }
    }
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

    /// What the running call has said of its progress; of who works on the lane.
    var told: UInt32 {
        get { part.pointee.told }
        nonmutating set { part.pointee.told = newValue }
    }

    /// Until it goes on.
    var waits: Waits {
        get { part.pointee.waits }
        nonmutating set { part.pointee.waits = newValue }
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
    /// Of who goes on with the lane; who stops it gets it from `steps`.
    fileprivate var waits = Waits.forOthers
    fileprivate var told: UInt32 = 0
}

/// What a lane waits for, and what is done when it is stopped.
enum Waits: UInt64 {
    /// A promise that is left.
    case forOthers = 0
    /// One that is cancelled, unless somebody else reads it, and waited for to its end.
    case forGiven = 8
    /// A call of the user's function, which is cancelled, and is to be over before the machine is.
    case forWork = 16

    static let mask: UInt64 = 24
}

private enum Step {
    /// The observer looks at a promise, and may be stopped.
    static let started: UInt64 = 1
    /// The promise is settled. Who takes the second of these two steps goes on with the lane.
    static let told: UInt64 = 2
    static let stopped: UInt64 = 4
    // And what it waits for, set together with `started`: see `Waits`.
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
    var ending: HookPointer?
    if plan.caller.destroy != nil {
        ending = makeHook(endWithContext, nil, nil)
        if ending == nil { return nil }
    }
    guard let promise = makeProduced(producer, isQuiet: true, thread) else {
        if let ending { giveMemoryBack(ending, MemoryLayout<Hook>.stride) }
        return nil
    }
    let memory = UnsafeMutableRawPointer(promise)
    let machine = (memory + machineStart).bindMemory(to: Machine.self, capacity: 1)
    machine.initialize(to: Machine(plan, thread))
    ending?.pointee.context = UnsafeMutableRawPointer(machine)
    machine.pointee.ending = ending
    if isWatched, let label = plan.caller.label { noteLabel(promise, label) }
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
/// - Parameter token: borrowed. Cancelled, it cancels the machine.
func startMachine(
    _ machine: MachinePointer, cancelledBy token: SourcePointer?, _ thread: ThreadPointer
) {
    asOneStep(thread) {
        if let token {
            machine.pointee.enrolment = enrol(machine.promise, in: token, thread)
            if machine.pointee.enrolment == nil {
                _ = cancel(machine.promise, ownErrors.noMemory, thread)
            }
        }
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
    lane.waits = .forWork
    let here = exchangeSurroundings(machine.pointee.travelling, thread)
    let work = makeWorkLater(reaction(of: lane, handler, destroy: endWork), thread)
    exchangeSurroundings(here, thread)
    return work
}

private func reaction(of lane: Lane, _ handler: Handler?, destroy: Destroy?) -> Reaction {
    Reaction(
        shape: .ofWork, handler: handler,
        context: UnsafeMutableRawPointer(lane.observer), executor: lane.machine.pointee.executor,
        extras: LinkExtras(onRejected: nil, destroy: destroy, label: nil))
}

/// The same to be begun later, when there may be no memory. Nil without.
func reserveWork(
    for lane: Lane, _ handler: Handler, _ thread: ThreadPointer
) -> RecordPointer? {
    let work = makeWorkAside(reaction(of: lane, handler, destroy: nil), thread)
    if isWatched, let work { noteReserved(work) }
    return work
}

func begin(_ work: RecordPointer, for lane: Lane, _ thread: ThreadPointer) {
    _ = lane.machine.pointee.holds.addRelaxed(1)
    lane.waits = .forWork
    beginWork(work, ending: endWork, thread)
}

/// The lane that a reaction (borrowed), whose handler is running, is work for.
func laneOfRunning(_ reaction: RecordPointer) -> Lane? {
    guard reaction.hasContextToDestroy, let destroy = reaction.extras.pointee.destroy,
        address(of: destroy) == address(of: endWork)
    else { return nil }
    return laneOfWork(reaction.link.pointee.context)
}

/// The lane that work was made for, in its handler.
func laneOfWork(_ context: UnsafeMutableRawPointer?) -> Lane {
    guard let context else { fatal("work has no lane") }
    return Lane(observer: context.assumingMemoryBound(to: Record.self))
}

func endWork(_ context: UnsafeMutableRawPointer?) {
    letGo(of: laneOfWork(context).machine, currentThread())
}

/// From a program's `next`: decides about the outcome (consumed), if nobody has. The other lanes
/// are stopped, and it counts when they have ended. Then `next` must return nil.
func finish(_ lane: Lane, _ value: vow_value, _ thread: ThreadPointer) {
    let machine = lane.machine
    if !machine.pointee.endFirst() {
        if machine.pointee.keepsValue && !value.isError {
            machine.pointee.outcome = value
        } else {
            value.release(thread)
        }
        return
    }
    machine.pointee.outcome = value
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
        lane.waits = .forOthers
        let asks = !isOver || machine.pointee.program.cleansUp || lane.comesLate(with: settled)
        let next = asks ? machine.pointee.program.next(lane, settled, thread) : nil
        settled?.release(thread)
        guard let next else {
            letGo(of: machine, thread)
            return
        }
        let isWaiting = observe(next, by: lane.observer, thread)
        // Who has looked through the machine saw what it waited for before.
        if isWaiting && hasGoneOn { nudgeWaitingThreads(past: bit(of: machine.promise)) }
        let waits = lane.waits
        let before = part.pointee.steps.orAcquireRelease(Step.started | waits.rawValue)
        if before & Step.told == 0 {
            if before & Step.stopped != 0 && isWaiting { stop(lane, thatWaits: waits, thread) }
            return
        }
        settled = takeSettled(part)
    }
}

extension Lane {
    /// Of one that has been asked to stop: its value is the outcome.
    fileprivate func comesLate(with settled: RecordPointer?) -> Bool {
        guard let settled, machine.pointee.keepsValue, !settled.value.isError else { return false }
        return machine.pointee.program.decides(self)
    }
}

/// Both steps have been taken.
private func takeSettled(_ part: UnsafeMutablePointer<LanePart>) -> RecordPointer? {
    let settled = part.pointee.settled
    part.pointee.settled = nil
    let waits = part.pointee.steps.loadRelaxed() & Waits.mask
    _ = part.pointee.steps.subtractAcquireRelease(Step.started | Step.told | waits)
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
    if index < machine.pointee.laneCount { return machine.lane(index).observer.observed }
    // Its context is destroyed there.
    let executor = machine.pointee.destroy == nil ? nil : machine.pointee.executor.ownsThread
    if index == machine.pointee.laneCount, let executor { return .executor(executor) }
    return .noMore
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
    if !promise.isCancelled { return }
    let machine = machine(of: promise)
    let isLeft = isForkedChild && machine.pointee.executor.isLeftWithParent
    if !machine.pointee.holds.addOneUnlessZero() { return }
    if !machine.pointee.endFirst(promise.keepsValue ? Over.asked : Over.yes) {
        letGo(of: machine, thread)
    } else if isLeft {
        stopLanes(ofCancelled: promise, thread)
    } else {
        // Held, as the last lane may end meanwhile. A loop, not a recursion: a lane may wait for another machine.
        asOneStep(thread) { thread.pointee.agenda.leaving.append(promise) }
    }
    if isLeft {
        // Its calls do not return in this process.
        promise.retainProducer()
        settleQuiet(promise, ownErrors.cancelled, thread)
    }
}

/// The machine of a promise that was cancelled, which is held for this.
func stopLanes(ofCancelled promise: RecordPointer, _ thread: ThreadPointer) {
    let machine = machine(of: promise)
    stopLanes(of: machine, thread)
    letGo(of: machine, thread)
}

private func machine(of promise: RecordPointer) -> MachinePointer {
    (UnsafeMutableRawPointer(promise) + machineStart).assumingMemoryBound(to: Machine.self)
}

@inline(never)
private func stopLanes(of machine: MachinePointer, _ thread: ThreadPointer) {
    for index in 0..<machine.pointee.laneCount {
        let lane = machine.lane(index)
        let before = lane.part.pointee.steps.orAcquireRelease(Step.stopped)
        // Else who goes on with the lane at this moment will see that it is over.
        if before & (Step.started | Step.told) == Step.started {
            stop(lane, thatWaits: Waits(rawValue: before & Waits.mask) ?? .forOthers, thread)
        }
    }
    machine.pointee.program.giveUp?(machine, thread)
}

/// A lane that has started is not to wait any longer. If it is too late for that, it is told, and ends.
@inline(never)
private func stop(_ lane: Lane, thatWaits waits: Waits, _ thread: ThreadPointer) {
    if waits == .forOthers {
        stopObserving(lane.observer, cancelling: true, thread)
    } else if case .promise(let promise) = lane.observer.observed {
        // A call that runs is let finish: the lane is told then. Asked when it is known what the lane looks at: it may have
        // gone on meanwhile, to what must not be stopped.
        let machine = lane.machine
        let mayBeStopped =
            machine.pointee.program.mayBeStopped(lane)
            && (waits == .forWork || promise.nowCounts.readers == 1)
        if mayBeStopped && (machine.pointee.keepsValue || machine.pointee.program.asks(lane)) {
            ask(promise, thread)
            return
        }
        if mayBeStopped { _ = cancel(promise, ownErrors.cancelled, thread) }
        promise.endVisit(thread)
    }
}

@inline(never)
private func letGo(of machine: MachinePointer, _ thread: ThreadPointer) {
    if machine.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    if let ending = machine.pointee.ending {
        // Foreign code comes first, but not here.
        if endElsewhere(machine, on: machine.pointee.executor, endWithContext, thread) {
            giveMemoryBack(ending, MemoryLayout<Hook>.stride)
        } else {
            asOneStep(thread) { dismiss(ending, .called, thread) }
        }
    } else {
        end(machine, thread)
    }
}

private func endWithContext(_ context: UnsafeMutableRawPointer?) {
    guard let machine = context?.assumingMemoryBound(to: Machine.self) else { return }
    let thread = currentThread()
    if let destroy = machine.pointee.destroy {
        // Its own promise may be waited for in there, which must be seen.
        withFrame(of: machine.promise, nil, on: thread.pointee.frame?.pointee.executor, thread) {
            carrying(machine.pointee.travelling.retained(), thread) {
                destroy(machine.pointee.context)
            }
        }
    }
    end(machine, thread)
}

private func end(_ machine: MachinePointer, _ thread: ThreadPointer) {
    asOneStep(thread) {
        let outcome = machine.pointee.outcome
        if let enrolment = machine.pointee.enrolment { leave(enrolment, thread) }
        machine.pointee.program.clear(machine, thread)
        machine.pointee.contextOwner.release(thread)
        machine.pointee.travelling.release(thread)
        machine.pointee.executor.release(thread)
        settleQuiet(machine.promise, outcome, thread)
    }
}

// MARK: Calling a function of the program

@inline(__always)
func callWithLoan(_ input: vow_value, _ body: (vow_value) -> vow_value) -> vow_value {
    #if VOW_CHECKED
        let thread = currentThread()
        let loan = Loan(input, thread)
        let result = body(loan.value)
        loan.end(returning: result, thread)
        return result
    #else
        return body(input)
    #endif
}
