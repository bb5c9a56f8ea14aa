// Machines, the common part of vow_map, vow_reduce, vow_repeat, vow_retry and vow_using: one promise, and lanes, each of which
// waits for one promise after the other, in one piece of memory:
//
//   Record | ProducerPart | Machine | the program's fields | lanes
//
// A `Program` names the next promise of a lane. The user's functions run as work on the machine's executor; a checked build
// lends them their input, as it does to handlers. All of a `LanePart` but `steps` belongs to the thread that goes on with the
// lane: the thread that took the second of the steps `started` and `told`.
//
// A lane uses its observer again for each promise. Its owner takes the observer from idle to open (`reopen`) and from
// claimed to idle (`close`), each by a store. A wait that looks through the machine locks the word to read and retain the
// observer's promise, but only while the word is open: `reopen` releases the earlier writes, pairing with the step that
// locks. A thread that claims the observer waits for the lock, so the promise is held while it is read. Only the owner
// writes an idle or claimed word, so no store undoes another thread's step (the scenario `machine-looked-through`).

import CVow

typealias MachinePointer = UnsafeMutablePointer<Machine>

struct Machine: ~Copyable {
    /// The first field, by which observers find the machine.
    let owner: ObserverOwner
    let program: Program
    /// The lanes under way, the work that may use the machine, and the maker. The last hold gives up one producer's
    /// reference and the fields.
    let holds: AtomicWord
    /// Not `no` once the outcome is decided: no further call begins.
    private let over = AtomicWord(Over.no)
    /// The outcome, owned. It belongs to the thread that has decided, then to the last hold; in a cancelled machine to the
    /// lane that would have decided.
    var outcome = ownErrors.cancelled
    let laneCount: Int
    /// The user's context. `contextOwner` (owned) keeps it alive, or `destroy` destroys it.
    let context: UnsafeMutableRawPointer?
    let contextOwner: vow_value
    let destroy: Destroy?
    /// A hook that calls `destroy`, owned until the machine has ended.
    fileprivate var ending: HookPointer?
    /// The executor of the work, and the work's surroundings; both owned.
    let executor: ExecutorPointer
    let travelling: Surroundings
    /// The machine's enrolment in its token's source.
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

    /// Whether the machine was asked to stop: see `ask`.
    fileprivate var keepsValue: Bool { over.loadRelaxed() == Over.asked }

    /// Returns true for one caller only.
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
    /// Returns the lane's next promise (owned); nil: the lane ends. `settled` (borrowed) is its last promise; nil at first.
    /// Calls no foreign code. One call at a time for each lane.
    let next: (_ lane: Lane, _ settled: RecordPointer?, ThreadPointer) -> RecordPointer?
    /// Gives up the promises that no lane waits for yet, once the outcome is decided. Calls no foreign code; a lane may be
    /// going on at the same time.
    var giveUp: ((MachinePointer, ThreadPointer) -> Void)?
    /// Whether the lane's promise may be cancelled; if not, the lane waits for its end.
    var mayBeStopped: (Lane) -> Bool = { _ in true }
    /// Whether `next` is called after the outcome is decided as well.
    var cleansUp = false
    /// Whether the lane's promise is asked to stop, and not cancelled.
    var asks: (Lane) -> Bool = { _ in false }
    /// Whether a value of the lane's promise would be the outcome.
    var decides: (Lane) -> Bool = { _ in false }
    /// The share of the whole that a lane's own progress makes; nil: a call reports the progress of the whole.
    var share: ((Lane, Double) -> Double)?
    /// Releases the fields. No thread uses the machine any more.
    let clear: (MachinePointer, ThreadPointer) -> Void
}

struct MachinePlan {
    let kind: TraceKind
    let program: Program
    var lanes = 1
    let caller: Caller
}

/// The context and executor of the user's functions.
struct Caller {
    var context: UnsafeMutableRawPointer?
    /// Borrowed. Its cancellation cancels the machine.
    var token: SourcePointer?
    /// A value that keeps the context alive; consumed. None: the caller keeps the context.
    var contextOwner = vow_none()
    /// Called with the context when no function is running or to come, before the promise settles.
    var destroy: Destroy?
    /// Borrowed; nil: the calling thread's executor.
    var executor: ExecutorPointer?
    var label: UnsafePointer<CChar>?

    /// Releases everything if no machine is made.
    func giveUp(_ thread: ThreadPointer) {
        contextOwner.release(thread)
        if let destroy { runForeign(thread) { destroy(context) } }
    }
}

/// An observer, and the state of its promise.
struct Lane {
    let observer: RecordPointer

    static let size = Observer.size + MemoryLayout<LanePart>.stride

    fileprivate var part: UnsafeMutablePointer<LanePart> {
        (UnsafeMutableRawPointer(observer) + Observer.size).assumingMemoryBound(to: LanePart.self)
    }

    /// The number of the `Program`; in vow_map, the item under way.
    var index: Int {
        get { part.pointee.index }
        nonmutating set { part.pointee.index = newValue }
    }

    /// The progress that the running call has reported. Used by the thread that works on the lane.
    var told: UInt32 {
        get { part.pointee.told }
        nonmutating set { part.pointee.told = newValue }
    }

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
    /// Each step is taken once: `started` and `told` until the lane goes on, `stopped` for good.
    fileprivate let steps = AtomicWord(0)
    /// The lane's settled promise, owned, between `told` and the next one.
    fileprivate var settled: RecordPointer?
    fileprivate var index = 0
    /// A thread that stops the lane reads this from `steps`.
    fileprivate var waits = Waits.forOthers
    fileprivate var told: UInt32 = 0
}

/// The kind of promise that a lane waits for; it decides what stopping the lane does.
enum Waits: UInt64 {
    /// A promise that the lane leaves.
    case forOthers = 0
    /// A promise that is cancelled unless it has another reader, and waited for to its end.
    case forGiven = 8
    /// A call of the user's function: it is cancelled, and ends before the machine does.
    case forWork = 16

    static let mask: UInt64 = 24
}

private enum Step {
    /// The observer looks at a promise, and may be stopped.
    static let started: UInt64 = 1
    /// The promise is settled. The thread that takes the second of these two steps goes on with the lane.
    static let told: UInt64 = 2
    static let stopped: UInt64 = 4
    // The `Waits` are set together with `started`.
}

private let machineStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + 15) & ~15
private let fieldsStart = machineStart + (MemoryLayout<Machine>.size + 15) & ~15

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Machine {
    var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - machineStart).assumingMemoryBound(to: Record.self)
    }

    func fields<Fields: ~Copyable>(_: Fields.Type) -> UnsafeMutablePointer<Fields> {
        (UnsafeMutableRawPointer(self) + (fieldsStart - machineStart))
            .assumingMemoryBound(to: Fields.self)
    }

    func lane(_ index: Int) -> Lane {
        let end = UnsafeMutableRawPointer(promise) + promise.producer.pointee.size
        let observer = end - (pointee.laneCount - index) * Lane.size
        return Lane(observer: observer.assumingMemoryBound(to: Record.self))
    }
}

/// Makes a machine that does nothing yet, with `extra` bytes behind its fields; the caller owns its promise. Consumes the
/// fields' references only if it succeeds. Returns nil without memory.
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

/// Begins all lanes, and gives the maker's hold up. Returns the promise (owned), as the machine may have ended.
/// - Parameter token: borrowed. Its cancellation cancels the machine.
func startMachine(
    _ machine: MachinePointer, cancelledBy token: SourcePointer?, _ thread: ThreadPointer
) -> RecordPointer {
    let promise = machine.promise
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
    return promise
}

/// Makes work for the user's function; the lane waits for its promise. The machine stays until the work is done.
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

/// Makes work to begin later, when there may be no memory. Returns nil without memory.
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

/// The lane for which a reaction (borrowed) with a running handler is work.
func laneOfRunning(_ reaction: RecordPointer) -> Lane? {
    guard reaction.hasContextToDestroy, let destroy = reaction.extras.pointee.destroy,
        address(of: destroy) == address(of: endWork)
    else { return nil }
    return laneOfWork(reaction.link.pointee.context)
}

/// The lane of work, in its handler.
func laneOfWork(_ context: UnsafeMutableRawPointer?) -> Lane {
    guard let context else { fatal("work has no lane") }
    return Lane(observer: context.assumingMemoryBound(to: Record.self))
}

func endWork(_ context: UnsafeMutableRawPointer?) {
    letGo(of: laneOfWork(context).machine, currentThread())
}

/// Called from `next`, which then returns nil: decides the outcome (consumed) if no lane has. The other lanes are stopped,
/// and the outcome counts when they have ended.
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

/// Goes on with a lane that no other thread has. A loop, while the next promise is settled already.
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
        // A wait that has looked through the machine saw the promise before.
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
    /// Whether the machine was asked to stop and this value is the outcome all the same.
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
    // The executor destroys the context.
    let executor = machine.pointee.destroy == nil ? nil : machine.pointee.executor.ownsThread
    if index == machine.pointee.laneCount, let executor { return .executor(executor) }
    return .noMore
}

private func laneStopped(_ observer: RecordPointer, _ thread: ThreadPointer) {
    letGo(of: Lane(observer: observer).machine, thread)
}

private func laneCalledBack(_ observer: RecordPointer, _ thread: ThreadPointer) {
    let machine = Lane(observer: observer).machine
    stopLanes(of: machine, thread)
    letGo(of: machine, thread)
}

/// The promise was cancelled, or its last reader has gone. In the second case the machine goes on, as reactions do.
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
        // The hold is kept: the last lane may end meanwhile. The agenda makes a loop of it: a lane may wait for another
        // machine.
        asOneStep(thread) { thread.pointee.agenda.leaving.append(promise) }
    }
    if isLeft {
        // The machine's calls do not return in a forked child.
        promise.retainProducer()
        settleQuiet(promise, ownErrors.cancelled, thread)
    }
}

/// Stops the lanes of a cancelled promise's machine, which is held for this.
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
        // A thread that goes on with the lane at this moment will see that the machine is over.
        if before & (Step.started | Step.told) == Step.started {
            stop(lane, thatWaits: Waits(rawValue: before & Waits.mask) ?? .forOthers, thread)
        }
    }
    machine.pointee.program.giveUp?(machine, thread)
}

/// Ends the wait of a started lane. If it is too late for that, the lane is told, and ends.
@inline(never)
private func stop(_ lane: Lane, thatWaits waits: Waits, _ thread: ThreadPointer) {
    if waits == .forOthers {
        stopObserving(lane.observer, cancelling: true, thread)
    } else if case .promise(let promise) = lane.observer.observed {
        // A running call finishes, and the lane is told then. `mayBeStopped` is asked when the lane's promise is known: the
        // lane may have gone on to a promise that must not be stopped.
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
        // The hook runs foreign code first, but not on this stack.
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
        // `destroy` may wait for the machine's own promise, which the look ahead must see.
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
