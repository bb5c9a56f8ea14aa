// Running a loop: due timers, ready descriptors, handlers; and sleeping in between.
//
// The work of a loop stands in two queues, as in SerialDrain.swift, with an event in place of a drain:
//
//   intake   any thread pushes; bit 0: the event is raised or will be, or a runner looks before it sleeps; bit 1: closed
//   batch    only the runner touches it
//
// The push that sets bit 0 raises the event. The runner lowers the event first, then takes the intake, and clears bit 0 only
// together with finding the intake empty. So while work waits, the event is raised or a runner looks, and the event is never
// raised for ever over nothing. A nested run clears bit 0 in the same way before it sleeps. One thread at a time runs a loop:
// `runner` is taken with acquire and given up with release, and so carries `batch` from one runner to the next.
//
// A wait on the loop's own thread names the event in its parking word. A settling thread that is not the runner raises the event
// before it writes `done`: after that step the waiter's record is gone. The runner asks the promise before it sleeps.

import CVow
import CVowPlatform

/// This many handlers, and this many timers, run before the program's own loop gets its turn.
let mostOfRun = 512

/// Makes the calling thread the runner of the loop (borrowed), and keeps the loop's memory. Returns nil if another thread is
/// the runner.
func whileRunning<Result>(_ loop: LoopPointer, _ thread: ThreadPointer, _ body: () -> Result)
    -> Result?
{
    let isNested = loop.isRun(by: thread)
    if !isNested {
        if !loop.isUsable { return body() }
        // Acquires; pairs with the release of the runner before.
        if !loop.pointee.runner.replaceAcquire(0, word(of: thread)).exchanged { return nil }
        // The runner before may have suspended a fiber since.
        if loop.isHeldByFibers(butOf: thread) {
            loop.pointee.runner.storeRelease(0)
            return nil
        }
        takeHome(of: loop, thread)
        armLater(loop)
    }
    // A thread that is cancelled in a handler, or in its sleep, would never give `runner` up.
    let cancel = vow_platform_hold_cancel()
    let executor = loop.pointee.executor
    executor.retain()
    var result: Result?
    withPlace(at: executor, thread) { result = body() }
    if !isNested {
        if loop.isUsable { rest(loop) }
        loop.pointee.runner.storeRelease(0)
    }
    vow_platform_let_cancel(cancel)
    executor.release(thread)
    return result
}

/// Makes the loop's descriptor say whether there is work, before the runner sleeps or returns. Returns true if there is
/// spare memory that is not needed in a long sleep.
@discardableResult
private func rest(_ loop: LoopPointer) -> Bool {
    let keepsSpares = trimSpareMemory()
    vow_platform_lower(loop.pointee.event)
    // Work that comes after the event was lowered raises it again.
    if !endRun(of: loop.pointee.executor) || loop.pointee.isWoken.loadAcquire() != 0 {
        vow_platform_raise(loop.pointee.event)
    }
    // A local: to ThreadSanitizer, a change through the loop's pointer is a change of the loop.
    let clock = loop.pointee.clock
    withStripe(clock.pointee.stripe) { clock.pointee.armNow() }
    return keepsSpares
}

private func armLater(_ loop: LoopPointer) {
    let clock = loop.pointee.clock
    withStripe(clock.pointee.stripe) { clock.pointee.isArmedLater = true }
}

/// Runs the ready work, and the work that this makes ready, up to the bound, or until a promise (borrowed) is settled. Returns
/// how much ran.
/// - Parameter fiber: the fiber whose stack this is; nil: the stack of the thread. A fiber that was suspended in between goes on
///   with nothing further: the loop has another runner, and the promise may be gone.
func runReady(
    _ loop: LoopPointer, _ thread: ThreadPointer, until promise: RecordPointer?,
    on fiber: FiberPointer?
) -> Int {
    var ran = 0
    let isAway = { fiber?.pointee.wasSuspended == true }
    let isEnough = { isAway() || promise?.pointee.state.read().hasValue == true }
    while ran < mostOfRun && loop.isUsable {
        var now = fireTimers(of: loop, thread, unless: isAway)
        fiber?.pointee.ran = ran + now
        if isAway() { break }
        now += fireWatches(loop.pointee.watches, thread)
        if isAway() { break }
        var handlers = 0
        while handlers < mostOfRun, loop.isUsable,
            let reaction = nextReaction(in: loop.pointee.executor)
        {
            handlers += 1
            fiber?.pointee.ran = ran + now + handlers
            perform(reaction, thread)
            leave(thread)
            if isEnough() { break }
        }
        now += handlers
        #if VOW_CHECKED
            if now == 0 { now += fireClosed(loop.pointee.watches, thread) }
        #endif
        ran += now
        fiber?.pointee.ran = ran
        if now == 0 || isEnough() { break }
    }
    return ran
}

/// Fires the timers that are due now.
private func fireTimers(
    of loop: LoopPointer, _ thread: ThreadPointer, unless isAway: () -> Bool
) -> Int {
    let clock = loop.pointee.clock
    let stripe = clock.pointee.stripe
    let moment = withStripe(stripe) { clock.pointee.wheel.isEmpty ? 0 : clock.pointee.now }
    var fired = 0
    while fired < mostOfRun, loop.isUsable,
        let node = withStripe(stripe, { clock.pointee.takeDue(at: moment) })
    {
        node.pointee.fire(node, .due, thread)
        leave(thread)
        fired += 1
        if isAway() { break }
    }
    return fired
}

// MARK: Once

func runOnce(_ loop: LoopPointer, until deadline: Deadline, _ thread: ThreadPointer) -> Int32 {
    whileRunning(loop, thread) { runOnceAsRunner(loop, until: deadline, thread) } ?? VOW_EINVAL
}

private func runOnceAsRunner(
    _ loop: LoopPointer, until deadline: Deadline, _ thread: ThreadPointer
) -> Int32 {
    while loop.isUsable {
        let isNested = thread.pointee.foreignDepth > 0
        if isNested && !hasStackLeft() || !drainInsideWait(thread) {
            return VOW_EDEADLOCK
        }
        let isWoken = takeWake(loop)
        let ran = runAside(loop, thread, until: nil)
        if !loop.isUsable { break }
        if ran > 0 || isWoken || deadline.hasPassed { return Int32(ran) }
        sleep(in: loop, until: deadline) { false }
    }
    return loop.isClosed ? VOW_ESHUTDOWN : VOW_EFORKED
}

/// Clears the request to return. Returns whether there was a request.
private func takeWake(_ loop: LoopPointer) -> Bool {
    loop.pointee.isWoken.loadRelaxed() != 0
        && loop.pointee.isWoken.exchangeAcquireRelease(0) != 0
}

/// Sleeps until there may be work, or a wake-up.
/// - Parameter isDisturbed: asked after the event was lowered: an event that was raised for the caller, and not for the loop's
///   work, may have been lowered with it.
private func sleep(in loop: LoopPointer, until deadline: Deadline, unless isDisturbed: () -> Bool) {
    let keepsSpares = rest(loop)
    if !isDisturbed() {
        // After an early end the runner looks and rests again.
        let end = keepsSpares ? deadline.notAfter(Parking.longEnoughToTrim) : deadline
        let left = end.nanoseconds.map { max($0 &- monotonicNow(), 0) } ?? -1
        _ = vow_platform_sleep(loop.pointee.set, left)
    }
    armLater(loop)
}

// MARK: Until a promise settles

/// The limits of a wait: the time-out of the monotonic clock; on a virtual loop also the moment that the loop's clock must not
/// pass.
struct LoopPatience {
    let deadline: Deadline
    /// A moment of the virtual clock.
    let virtualEnd: Int64

    init(_ loop: LoopPointer, until deadline: Deadline) {
        self.deadline = deadline
        var end = Int64.max
        if loop.pointee.isVirtual, let delay = deadline.delay {
            let now = withStripe(loop.pointee.clock.pointee.stripe) {
                loop.pointee.clock.pointee.now
            }
            let (sum, overflow) = now.addingReportingOverflow(delay)
            if !overflow { end = sum }
        }
        virtualEnd = end
    }
}

enum LoopStep {
    case lookAgain, timedOut, shutDown, forked
}

/// Runs the ready work; without any, moves a virtual clock on, or sleeps. The caller is the runner.
/// - Parameter isNudged: whether the caller has to look again before it sleeps. A thread that makes `isNudged` true, or another
///   thread that settles the promise, raises the loop's event afterwards.
func takeStep(
    of loop: LoopPointer, _ patience: LoopPatience, _ thread: ThreadPointer,
    until promise: RecordPointer, unless isNudged: () -> Bool
) -> LoopStep {
    let ran = runAside(loop, thread, until: promise)
    let isEnough = { promise.pointee.state.read().hasValue }
    if isEnough() { return .lookAgain }
    if loop.isClosed { return .shutDown }
    if loop.isCopy { return .forked }
    if patience.deadline.hasPassed { return .timedOut }
    if ran > 0 { return .lookAgain }
    if loop.pointee.isVirtual {
        switch moveToNextTimer(of: loop, before: patience.virtualEnd) {
        case .moved: return .lookAgain
        case .isTooLate: return .timedOut
        case .none: break
        }
    }
    sleep(in: loop, until: patience.deadline) { isEnough() || isNudged() }
    return .lookAgain
}

// MARK: Handing work to a loop

private let runIsComing: UInt64 = 1
/// The loop is destroyed and accepts no work.
private let closed: UInt64 = 2
private let marks: UInt64 = 3

func submitToLoop(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    let loop = executor.loop
    let isPinned = reaction.isPinnedStep
    if !loop.isUsable && !isPinned {
        refuse(reaction, loop.isClosed ? .shutDown : .forked, thread)
        return
    }
    if loop.isRun(by: thread) {
        // No hop. Reactions that were pushed before go first.
        takeIntake(of: executor)
        executor.batch.pointee.append(reaction)
        return
    }
    while true {
        let old = executor.pointee.intake.loadRelaxed()
        if old & closed != 0 && !isPinned {
            refuse(reaction, .shutDown, thread)
            return
        }
        let isFirst = old & runIsComing == 0
        // Once pushed, the reaction may run and give up the last reference to the executor.
        if isFirst { executor.retain() }
        reaction.lane = RecordPointer(bitPattern: UInt(old & ~marks))
        let new = UInt64(UInt(bitPattern: reaction)) | runIsComing | old & closed
        // Sequentially consistent, like the look of `nudgeWaitingThreads`.
        let isPushed = executor.pointee.intake.replaceOrdered(old, new).exchanged
        if isFirst {
            if isPushed && !loop.isCopy { vow_platform_raise(loop.pointee.event) }
            executor.release(thread)
        }
        if isPushed { break }
    }
    nudgeWaitingThreads(blocking: executor)
}

/// Returns the oldest reaction. The caller is the runner.
func nextReaction(in executor: ExecutorPointer) -> RecordPointer? {
    if executor.batch.pointee.isEmpty { takeIntake(of: executor) }
    return executor.batch.pointee.popFirst()
}

func takeIntake(of executor: ExecutorPointer) {
    if executor.pointee.intake.loadRelaxed() & ~marks == 0 { return }
    let taken = executor.pointee.intake.exchangeAcquireRelease(
        executor.pointee.intake.loadRelaxed() & closed | runIsComing)
    executor.batch.pointee.append(
        MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
}

/// Clears bit 0 after the runner has lowered the event. Returns false if there is work.
func endRun(of executor: ExecutorPointer) -> Bool {
    if !executor.batch.pointee.isEmpty { return false }
    while true {
        let old = executor.pointee.intake.loadAcquire()
        if old & ~marks != 0 { return false }
        if old == 0 || executor.pointee.intake.replaceAcquireRelease(old, 0).exchanged {
            return true
        }
    }
}

/// Closes the intake and refuses the queued reactions. The caller is inside `asOneStep`.
/// - Parameter isBatchWhole: false if a fork caught another thread in the middle of changing `batch`.
func closeQueue(of executor: ExecutorPointer, isBatchWhole: Bool, _ thread: ThreadPointer) {
    let taken = executor.pointee.intake.exchangeAcquireRelease(closed)
    var left = MemberList()
    if isBatchWhole { swap(&left, &executor.batch.pointee) }
    left.append(MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
    while let reaction = left.popFirst() {
        if reaction.isPinnedStep {
            executor.batch.pointee.append(reaction)
        } else {
            refuse(reaction, .shutDown, thread)
        }
    }
}
