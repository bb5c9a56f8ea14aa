// Running fibers: beginning, waiting, going on, and the end. Thread/FiberState.swift has the memory, and who may touch it.
//
// The executor that runs a fiber's work, or its step, enters the fiber's stack, and returns when the fiber leaves it. A wait
// registers the fiber in the promise's queue and leaves the stack; so the executor goes on with other work meanwhile, and the
// settling thread hands the step over in the order of the queue (G2). Refusals, the end of the library's work and a fork need no
// ways of their own: the executor accepts the step or refuses it, like any reaction.
//
// A fiber may go on on another thread. So a function that leaves the stack asks for its thread anew (`threadNow`), and so does
// each function that calls it, up to the exported one: these are few, because a fiber leaves its stack only if no other piece of
// the library is between its function and the wait (`mayLeave`). Else the wait blocks the thread, as in a handler.
//
// *Rings.* A fiber waits for `awaited` as a follower waits for its promise, so the proof in Settling/Rings.swift holds: the fiber
// publishes `awaited` under its lock, enters the queue, and then looks, unless nothing waits for the fiber. Of two fibers that
// enter each other's queues, one sees its own queue filled: both have a full fence in between. A follower that enters a fiber's
// queue always looks afterwards, because a fiber that begins to wait keeps its phase. A walk upstream comes
// through `lockedUpstream`, a look downstream through the waiter's `upstream`. A thread whose look ahead came past the fiber is
// nudged, as if the fiber's promise had begun to follow.
//
// *Cancelling.* The canceller marks the work cancelled, and nudges the fiber, under the lock that `awaited` is published under:
// either the fiber sees the mark before it waits, or the canceller sees that it waits. The wait answers with the cancellation,
// and so do all later ones, except the wait for a shield.

import CVow
import CVowPlatform

/// Behind the fiber.
struct FiberRun {
    /// The run of the function that is being traced.
    var traced: TracedRun?
    /// For a run of a loop: what its runner waits for, borrowed.
    var awaited: RecordPointer?
}

let fiberSize = fiberRunStart + MemoryLayout<FiberRun>.stride
let defaultStackSize = 64 << 10
let mostStackSize = 1 << 30

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Fiber {
    var run: UnsafeMutablePointer<FiberRun> {
        (memory + fiberRunStart).assumingMemoryBound(to: FiberRun.self)
    }
}

// MARK: Making a fiber

/// Makes a fiber of a reaction that is work. Its context is destroyed when the function has returned, or will not run.
func makeFiber(_ reaction: Reaction, stackSize: Int, _ thread: ThreadPointer) -> RecordPointer {
    guard let body = reaction.handler, let memory = takeMemory(fiberSize) else {
        if let destroy = reaction.extras.destroy {
            runForeign(thread) { destroy(reaction.context) }
        }
        return promiseWithoutMemory
    }
    let fiber = FiberPointer(in: memory)
    fiber.initialize(
        to: Fiber(
            body, reaction.context, reaction.extras.destroy, stackSize: stackSize, size: fiberSize))
    fiber.run.initialize(to: FiberRun())
    var work = reaction
    work.shape = .ofFiber
    work.handler = fiberBody
    work.context = memory
    work.extras.destroy = endNothing
    if reaction.extras.destroy != nil { work.extras.destroy = endFiberContext }
    let made = makeWork(work, thread)
    if made == promiseWithoutMemory { fiber.release() }
    return made
}

// MARK: On the stack that a fiber is entered from

/// Begins a fiber, whose work has just begun to run.
func beginFiber(of work: RecordPointer, _ thread: ThreadPointer) {
    guard let fiber = work.fiber, let executor = work.executor else { fatal("work is no fiber") }
    guard let stack = vow_platform_take_stack(fiber.pointee.stackSize) else {
        let reading = Reading(promise: nil, cancellation: nil)
        passOn(work, reading, ownErrors.noMemory, thread)
        return
    }
    stack.pointee.label = work.extras.pointee.label
    fiber.pointee.work = work
    _ = fiber.pointee.references.addRelaxed(1)
    prepare(fiber, stack, executor)
    enter(fiber, beginning: runFiber, thread)
}

func prepare(
    _ fiber: FiberPointer, _ stack: UnsafeMutablePointer<vow_stack>, _ executor: ExecutorPointer
) {
    fiber.pointee.stack = stack
    fiber.step.initialize(to: Record(.open, shape: .step, promises: 1, producers: 1))
    fiber.step.link.initialize(to: LinkPart(handler: nil, context: nil, executor: executor))
    fiber.pointee.place = Place(executor: executor, outer: nil)
}

/// Runs a fiber until it waits, yields or ends.
/// - Parameter function: nil: the fiber has begun.
func enter(
    _ fiber: FiberPointer, beginning function: Destroy? = nil, _ thread: ThreadPointer
) {
    // The fiber's function may take long.
    payOwedWorker(thread)
    guard let stack = fiber.pointee.stack else { fatal("a fiber has no stack") }
    let outer = CallChain(of: thread)
    var function = function
    while true {
        fiber.pointee.place.outer = thread.pointee.place
        fiber.pointee.frame?.pointee.outer = thread.pointee.frame
        fiber.pointee.kept.restore(thread)
        thread.pointee.fiber = fiber
        if let first = function {
            function = nil
            vow_platform_begin_stack(stack, first, fiber.memory)
        } else {
            vow_platform_enter_stack(stack)
        }
        outer.restore(thread)
        switch fiber.pointee.leaving {
        case .suspended:
            guard let waiter = fiber.pointee.waiter else { fatal("a fiber waits for nothing") }
            // From this step on the fiber may go on, on another thread.
            let (awake, suspended) = (fiber.awake, fiber.suspended)
            if waiter.pointee.counts.replaceAcquireRelease(awake, suspended).exchanged { return }
        case .yields:
            handOver(step: fiber.step, thread)
            return
        case .rests:
            return
        case .ended:
            vow_platform_give_stack(stack)
            fiber.release()
            return
        }
    }
}

/// A fiber whose executor refuses it goes on on this thread. No executor refuses a pinned one: see `submitToLoop`.
func refuse(_ fiber: FiberPointer, _ thread: ThreadPointer) {
    fiber.pointee.refusal = fiber.step.passage
    let place = fiber.pointee.place
    fiber.pointee.place.executor = ownExecutors.inline
    fiber.pointee.place.runs = 0
    place.executor.release(place.runs, thread)
    thread.pointee.agenda.ready.append(fiber.step)
}

// MARK: On the fiber's stack

/// Calls the fiber's function and settles its promise.
private func runFiber(_ context: UnsafeMutableRawPointer?) {
    guard let fiber = context.map({ FiberPointer(in: $0) }), let work = fiber.pointee.work else {
        fatal("a stack without a fiber")
    }
    runFunction(of: fiber, work)
    // The function may have come to another thread.
    let thread = threadNow()
    let runs = fiber.pointee.refusal == nil ? fiber.pointee.place.runs : 0
    fiber.step.executorElsewhere?.release(runs &+ 1, thread)
    fiber.pointee.leaving = .ended
    leave(fiber, thread, isLast: true)
}

private func runFunction(of fiber: FiberPointer, _ work: RecordPointer) {
    var thread = threadNow()
    thread.pointee.place = place(of: fiber)
    noteRuns(fiber)
    let carried = work.surroundings ?? Surroundings()
    exchangeSurroundings(
        Surroundings(context: carried.context.retained(), scope: carried.scope), thread)
    let executor = fiber.pointee.place.executor
    var call = Call(of: work, reading: nil, on: executor, thread)
    let result = withUnsafeMutablePointer(to: &call) { call in
        call.begin(thread)
        fiber.pointee.frame = thread.pointee.frame
        let result = fiber.pointee.body.unsafelyUnwrapped(vow_none(), fiber.pointee.context)
        thread = threadNow()
        destroyContext(of: work, fiber.memory, after: result)
        thread = threadNow()
        fiber.pointee.frame = nil
        call.end(thread)
        return result
    }
    forgetContext(of: work, thread)
    exchangeSurroundings(Surroundings(), thread)
    noteRan(fiber)
    let reading = Reading(promise: nil, cancellation: nil)
    asOneStep(thread) { complete(work, begunAs: .running, result, reading, thread) }
}

func place(of fiber: FiberPointer) -> UnsafeMutablePointer<Place> {
    withUnsafeMutablePointer(to: &fiber.pointee.place) { $0 }
}

/// Leaves the fiber's stack. Returns, unless this is the last time, when the fiber goes on.
func leave(_ fiber: FiberPointer, _ thread: ThreadPointer, isLast: Bool = false) {
    if !isLast {
        noteRan(fiber)
        fiber.pointee.kept = CallChain(of: thread)
    }
    vow_platform_leave_stack(fiber.pointee.stack, isLast ? 1 : 0)
    noteRuns(fiber)
}

private func noteRuns(_ fiber: FiberPointer) {
    guard isWatched, let work = fiber.pointee.work else { return }
    fiber.run.pointee.traced = noteRuns(
        work, reading: nil, on: fiber.pointee.place.executor)
}

private func noteRan(_ fiber: FiberPointer) {
    guard let work = fiber.pointee.work, let run = fiber.run.pointee.traced else { return }
    fiber.run.pointee.traced = nil
    noteRan(work, run)
}

// MARK: Waiting

/// A wait of a fiber, on its stack: the member of the promise's queue, and the timer. The thread that fires the timer writes
/// `end`, and touches nothing after it has set `hasFired`, unless the step is its to hand over.
struct FiberWait: ~Copyable {
    /// The first field.
    var waiter: Record
    var timer: TimerNode
    let hasFired = AtomicWord(0)
    /// 0: the timer has not fired.
    let end = AtomicWord(0)
    let timeout: Int64?
    var hasTimer = false

    static let isDue: UInt64 = 1
    static let isShutDown: UInt64 = 2

    init(_ word: UInt64, timeout: Int64?) {
        waiter = Record(.open, shape: .waiter, promises: word, producers: 0)
        timer = TimerNode(timeIsUp)
        self.timeout = timeout
    }
}

/// The timer is the second field.
private let waitTimerStart = (MemoryLayout<Record>.size + 7) & ~7

typealias FiberWaitPointer = UnsafeMutablePointer<FiberWait>

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == FiberWait {
    var waiter: RecordPointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Record.self)
    }
    private var timer: TimerPointer {
        (UnsafeMutableRawPointer(self) + waitTimerStart).assumingMemoryBound(to: TimerNode.self)
    }

    fileprivate init(ofTimer node: TimerPointer) {
        self = (UnsafeMutableRawPointer(node) - waitTimerStart)
            .assumingMemoryBound(to: FiberWait.self)
    }

    /// Nil: the timer is set, or there is no limit.
    func startTimer(_ thread: ThreadPointer) -> WaitResult? {
        guard let timeout = pointee.timeout else { return nil }
        switch VowCore.startTimer(timer, after: timeout, thread) {
        case .started: pointee.hasTimer = true
        case .refused: return isForkedChild ? .forked : .shutDown
        case .noMemory: return .noThread
        }
        return nil
    }

    func stopTimer() {
        if !pointee.hasTimer || VowCore.stopTimer(timer) { return }
        // The thread that fires the timer is through with the wait in a moment.
        var pause = Backoff()
        while pointee.hasFired.loadAcquire() == 0 {
            // A thread of the parent may have been about to fire it.
            if isForkedChild && pause.isHopeless { break }
            pause.wait()
        }
    }

    /// The result of a wait whose fiber has come back; nil: it is to go on.
    func result(on fiber: FiberPointer) -> WaitResult? {
        _ = waiter.pointee.counts.replaceAcquire(Parking.nudged, fiber.awake)
        if waiter.pointee.counts.loadAcquire() == Parking.done { return .settled }
        if let refusal = fiber.pointee.refusal { return reason(refusal) }
        switch pointee.end.loadRelaxed() {
        case 0: return nil
        case FiberWait.isDue: return .timedOut
        default: return .shutDown
        }
    }
}

private func timeIsUp(_ node: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let wait = FiberWaitPointer(ofTimer: node)
    wait.pointee.end.storeRelaxed(end == .due ? FiberWait.isDue : FiberWait.isShutDown)
    let step = wait.waiter.nudgeFiber()
    wait.pointee.hasFired.storeRelease(1)
    if let step { handOver(step: step, thread) }
}

private func reason(_ refusal: Passage) -> WaitResult {
    if refusal.contains(.isShutOut) { return .shutDown }
    return refusal.contains(.lacksThread) ? .noThread : .forked
}

/// Calls the body with a wait on the fiber's stack, and stops its timer afterwards.
func withWait<Result>(
    on fiber: FiberPointer, timeout: Int64?, _ body: (FiberWaitPointer) -> Result
) -> Result {
    let size = MemoryLayout<FiberWait>.stride
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { memory in
        guard let wait = memory.baseAddress?.bindMemory(to: FiberWait.self, capacity: 1) else {
            fatal("no stack for a waiting fiber")
        }
        wait.initialize(to: FiberWait(fiber.awake, timeout: timeout))
        let result = body(wait)
        wait.stopTimer()
        return result
    }
}

// MARK: Waiting in the fiber's function itself

/// The fiber that a wait of the calling thread suspends, and that may go on on any thread. Nil: there are other calls of the
/// library on its stack.
/// - Parameter loop: the wait is to run it; nil: any.
@inline(__always)
func fiberThatMayLeave(_ thread: ThreadPointer, running loop: LoopPointer? = nil) -> FiberPointer? {
    guard let fiber = thread.pointee.fiber, let frame = fiber.pointee.frame,
        !thread.pointee.nestsWaits, loop == nil || fiber.runs(in: loop)
    else { return nil }
    return thread.pointee.frame == frame && thread.pointee.foreignDepth == 1 ? fiber : nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Fiber {
    func runs(in loop: LoopPointer?) -> Bool { step.executorElsewhere == loop?.pointee.executor }
}

/// Suspends the fiber until a promise (borrowed) is settled. The caller's thread may be another one afterwards.
/// - Parameter timeout: nanoseconds; nil: no limit.
@inline(never)
func suspend(
    _ fiber: FiberPointer, until promise: RecordPointer, timeout: Int64?, _ thread: ThreadPointer
) -> WaitResult {
    if let refusal = fiber.pointee.refusal { return reason(refusal) }
    if promise.isLeftInStep { return .forked }
    guard let work = fiber.pointee.work else { fatal("a fiber without a promise") }
    return withWait(on: fiber, timeout: timeout) { wait in
        wait.waiter.upstream = work
        fiber.step.upstream = promise
        let word = work.pointee.state.lock()
        let cancellation = cancellation(of: work, awaiting: promise)
        if cancellation == nil {
            fiber.pointee.waiter = wait.waiter
            fiber.pointee.awaited = promise
        }
        work.pointee.state.unlock(word.phase, word.head)
        if let cancellation { return .cancelled(cancellation) }
        var result = WaitResult.settled
        if promise.pointee.state.enlist(wait.waiter, while: .ofWaiters) == nil {
            // A full fence, between the entry and the look at the own queue: see the head.
            nudgeWaitingThreads(past: bit(of: work))
            let isAwaited = work.pointee.state.read().head != nil
            if isAwaited && waitsForItself(work, by: promise, thread) {
                work.endVisit(thread)
                result = .ring
            } else {
                result = wait.startTimer(thread) ?? sleep(fiber, wait, for: promise)
            }
            if case .settled = result {
            } else if !withdraw(wait.waiter, from: promise) {
                if case .cancelled(let error) = result { error.release(threadNow()) }
                result = .settled
            }
        }
        let now = work.pointee.state.lock()
        fiber.pointee.awaited = nil
        work.pointee.state.unlock(now.phase, now.head)
        return result
    }
}

/// The error (owned) with which the fiber's promise (locked) was cancelled. Nil: it was not, or the wait is for a shield.
private func cancellation(of work: RecordPointer, awaiting promise: RecordPointer) -> vow_value? {
    if !work.isCancelled || promise.pointee.shape.isShield { return nil }
    return (work.errorToCome ?? ownErrors.cancelled).retained()
}

private func sleep(_ fiber: FiberPointer, _ wait: FiberWaitPointer, for promise: RecordPointer)
    -> WaitResult
{
    guard let work = fiber.pointee.work else { fatal("a fiber without a promise") }
    let began = isTracing ? noteWaits(wait.waiter, for: promise) : 0
    defer { if began != 0 { noteWaited(wait.waiter, for: promise, since: began) } }
    while true {
        fiber.pointee.leaving = .suspended
        leave(fiber, threadNow())
        let result = wait.result(on: fiber)
        if case .settled? = result { return .settled }
        if work.isCancelled {
            let now = work.pointee.state.lock()
            let cancellation = cancellation(of: work, awaiting: promise)
            work.pointee.state.unlock(now.phase, now.head)
            if let cancellation { return .cancelled(cancellation) }
        }
        if let result { return result }
    }
}

/// Lets the executor do other work first. Returns false if the caller is not a fiber's function itself.
func yieldFiber(_ thread: ThreadPointer) -> Bool {
    guard let fiber = fiberThatMayLeave(thread) else { return false }
    if fiber.pointee.refusal != nil { return true }
    fiber.pointee.leaving = .yields
    leave(fiber, thread)
    return true
}
