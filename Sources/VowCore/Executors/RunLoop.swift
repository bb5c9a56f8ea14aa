// Running a loop: timers that are due, descriptors that are ready, handlers; and sleeping in between.
//
// What is handed to a loop stands in two queues, by the scheme of SerialDrain.swift, with an event in place of a dispatch:
//
//   intake   any thread pushes; bit 0: the event is raised or will be, or a runner looks before it sleeps
//   batch    the runner alone
//
// The runner lowers the event before it clears bit 0, and clears it only while nothing is in the intake. So a thread that
// finds the bit clear raises the event after it was lowered, and nothing is left lying.

import CVow
import CVowPlatform

/// So many handlers, and so many timers, run before the program's own loop gets its turn.
private let turn = 512

/// Makes the calling thread the one that runs the loop (borrowed), and keeps the loop's memory. Nil: another
/// thread is running it.
func whileRunning<Result>(_ loop: LoopPointer, _ thread: ThreadPointer, _ body: () -> Result)
    -> Result?
{
    let isNested = loop.isRun(by: thread)
    if !isNested {
        if !loop.isUsable { return body() }
        // Acquires; pairs with the release of the runner before.
        if !loop.pointee.runner.replaceAcquire(0, word(of: thread)).exchanged { return nil }
        takeHome(of: loop, thread)
        armLater(loop)
    }
    // A thread that is cancelled in a handler, or while it sleeps, would leave the loop taken.
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

/// The runner is about to sleep or to return: from here on its descriptor says whether there is work. True: it keeps
/// memory that it does not need if it sleeps for long.
@discardableResult
private func rest(_ loop: LoopPointer) -> Bool {
    let keepsSpares = trimSpareMemory()
    vow_platform_lower(loop.pointee.event)
    // After it was lowered: what comes later raises it again.
    if !endRun(of: loop.pointee.executor) || loop.pointee.isWoken.loadAcquire() != 0 {
        vow_platform_raise(loop.pointee.event)
    }
    // By itself: what is changed through the loop's pointer counts as a change of the loop to ThreadSanitizer.
    let clock = loop.pointee.clock
    withStripe(clock.pointee.stripe) { clock.pointee.armNow() }
    return keepsSpares
}

private func armLater(_ loop: LoopPointer) {
    let clock = loop.pointee.clock
    withStripe(clock.pointee.stripe) { clock.pointee.isArmedLater = true }
}

/// Runs what is ready, and what that makes ready, up to the bound. Returns how much ran.
/// - Parameter isEnough: asked between two handlers.
func runReady(
    _ loop: LoopPointer, _ thread: ThreadPointer, until isEnough: () -> Bool
) -> Int {
    var ran = 0
    while ran < turn && loop.isUsable {
        var now = fireTimers(of: loop, thread)
        now += fireWatches(loop.pointee.watches, thread)
        now += runHandlers(of: loop, thread, until: isEnough)
        #if VOW_CHECKED
            if now == 0 { now += fireClosed(loop.pointee.watches, thread) }
        #endif
        ran += now
        if now == 0 || isEnough() { break }
    }
    return ran
}

private func runHandlers(
    of loop: LoopPointer, _ thread: ThreadPointer, until isEnough: () -> Bool
) -> Int {
    var ran = 0
    while ran < turn, loop.isUsable, let reaction = nextReaction(in: loop.pointee.executor) {
        perform(reaction, thread)
        leave(thread)
        ran += 1
        if isEnough() { break }
    }
    return ran
}

/// Those that are due now.
private func fireTimers(of loop: LoopPointer, _ thread: ThreadPointer) -> Int {
    let clock = loop.pointee.clock
    let stripe = clock.pointee.stripe
    let moment = withStripe(stripe) { clock.pointee.heap.first == nil ? 0 : clock.pointee.now }
    var fired = 0
    while fired < turn, loop.isUsable,
        let node = withStripe(stripe, { clock.pointee.takeDue(at: moment) })
    {
        node.pointee.fire(node, .due, thread)
        leave(thread)
        fired += 1
    }
    return fired
}

// MARK: Once

/// What `vow_loop_run_once` answers.
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
        let ran = runReady(loop, thread) { false }
        if !loop.isUsable { break }
        if ran > 0 || isWoken || deadline.hasPassed { return Int32(ran) }
        sleep(in: loop, until: deadline) { false }
    }
    return loop.isClosed ? VOW_ESHUTDOWN : VOW_EFORKED
}

/// Whether the loop was asked to return; it is not any more.
private func takeWake(_ loop: LoopPointer) -> Bool {
    loop.pointee.isWoken.loadRelaxed() != 0
        && loop.pointee.isWoken.exchangeAcquireRelease(0) != 0
}

/// Sleeps until there may be something to run, or something to look at.
/// - Parameter isDisturbed: asked after the event was lowered: what raised it for the caller, and not for the loop's
///   own work, may have come before that.
private func sleep(in loop: LoopPointer, until deadline: Deadline, unless isDisturbed: () -> Bool) {
    let keepsSpares = rest(loop)
    if !isDisturbed() {
        // Waking early, it looks and rests again.
        let end = keepsSpares ? deadline.notAfter(Parking.longEnoughToTrim) : deadline
        let left = end.nanoseconds.map { max($0 &- monotonicNow(), 0) } ?? -1
        _ = vow_platform_sleep(loop.pointee.set, left)
    }
    armLater(loop)
}

// MARK: Until a promise settles

/// How long a wait goes on: the time-out is the monotonic clock's; on a virtual loop it also ends when the
/// loop's clock would have to pass it.
struct LoopPatience {
    let deadline: Deadline
    /// Of the virtual clock.
    let virtualEnd: Int64

    init(_ loop: LoopPointer, until deadline: Deadline) {
        self.deadline = deadline
        var end = Int64.max
        if loop.pointee.isVirtual, let nanoseconds = deadline.nanoseconds {
            let left = max(nanoseconds &- monotonicNow(), 0)
            let now = withStripe(loop.pointee.clock.pointee.stripe) {
                loop.pointee.clock.pointee.now
            }
            let (sum, overflow) = now.addingReportingOverflow(left)
            if !overflow { end = sum }
        }
        virtualEnd = end
    }
}

enum LoopStep {
    case lookAgain, timedOut, shutDown, forked
}

/// Runs what is ready; where there is nothing, moves a virtual clock on, or sleeps. The runner's.
/// - Parameter isNudged: whether the caller has to look again before it sleeps. Whoever makes that, or `isEnough`, true
///   raises the loop's event afterwards.
func takeStep(
    of loop: LoopPointer, _ patience: LoopPatience, _ thread: ThreadPointer,
    until isEnough: () -> Bool, unless isNudged: () -> Bool
) -> LoopStep {
    let ran = runReady(loop, thread, until: isEnough)
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

// MARK: What is handed to a loop

private let runIsComing: UInt64 = 1
/// Destroyed: nothing is accepted any more.
private let closed: UInt64 = 2
private let marks: UInt64 = 3

func submitToLoop(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    let loop = executor.loop
    if !loop.isUsable {
        refuse(reaction, loop.isClosed ? .shutDown : .forked, thread)
        return
    }
    if loop.isRun(by: thread) {
        // No hop. Those that were pushed before go first.
        takeIntake(of: executor)
        executor.batch.pointee.append(reaction)
        return
    }
    while true {
        let old = executor.pointee.intake.loadRelaxed()
        if old & closed != 0 {
            refuse(reaction, .shutDown, thread)
            return
        }
        let isFirst = old & runIsComing == 0
        // Once it is pushed, the reaction may run and give up the last reference.
        if isFirst { executor.retain() }
        reaction.lane = RecordPointer(bitPattern: UInt(old & ~marks))
        let new = UInt64(UInt(bitPattern: reaction)) | runIsComing
        // In the single order with the look of a wait: see `nudgeWaitingThreads`.
        let isPushed = executor.pointee.intake.replaceOrdered(old, new).exchanged
        if isFirst {
            if isPushed { vow_platform_raise(loop.pointee.event) }
            executor.release(thread)
        }
        if isPushed { break }
    }
    nudgeWaitingThreads(blocking: executor)
}

/// The oldest reaction; the runner's.
func nextReaction(in executor: ExecutorPointer) -> RecordPointer? {
    if executor.batch.pointee.isEmpty { takeIntake(of: executor) }
    return executor.batch.pointee.popFirst()
}

func takeIntake(of executor: ExecutorPointer) {
    if executor.pointee.intake.loadRelaxed() & ~marks == 0 { return }
    let taken = executor.pointee.intake.exchangeAcquireRelease(runIsComing)
    executor.batch.pointee.append(
        MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
}

/// The runner has lowered the event. False: there is something to run.
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

/// Accepts nothing more, and refuses what is there: as one step, see `asOneStep`.
/// - Parameter isBatchWhole: not so if a fork caught another thread at it.
func closeQueue(of executor: ExecutorPointer, isBatchWhole: Bool, _ thread: ThreadPointer) {
    let taken = executor.pointee.intake.exchangeAcquireRelease(closed)
    var left = MemberList()
    if isBatchWhole { swap(&left, &executor.batch.pointee) }
    left.append(MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~marks))))
    while let reaction = left.popFirst() {
        refuse(reaction, .shutDown, thread)
    }
}
