// Blocking until a promise settles.
//
// A waiting thread puts a record on its own stack into the promise's queue, so a wait allocates nothing. A thread
// that settles the promise publishes the value first and then wakes the waiter: see Thread/WaitingThreads.swift. A
// worker of the pool, of whichever duty, lends its place while it is parked; the wait is refused if this is the last
// worker and the system gives no other (Executors/Pool.swift).

import CVow
import CVowPlatform

enum WaitResult {
    case settled, timedOut, deadlock, forked
    /// The wait would take the pool's last thread, and the system gives no other.
    case noThread
    /// The loop that the thread was to run is destroyed.
    case shutDown
    /// Another thread runs that loop.
    case isBusy
    /// The fiber's promise would wait for itself.
    case ring
    /// The fiber's promise was cancelled, with this error, owned.
    case cancelled(vow_value)
}

/// Waits until a promise (borrowed) is settled. On a loop's thread it runs the loop meanwhile.
func wait(for promise: RecordPointer, until deadline: Deadline, _ thread: ThreadPointer)
    -> WaitResult
{
    let loop = loopHere(thread)
    if let loop {
        defer { loop.release(thread) }
        let result = wait(for: promise, until: deadline, running: loop, thread)
        switch result {
        case .shutDown where loop.isUsable:
            // The fiber does not leave its stack any more: its thread ends.
            return wait(for: promise, until: deadline, running: loop, thread)
        case .shutDown, .isBusy: break
        default: return result
        }
    }
    if thread.pointee.foreignDepth == 0 && !deadline.hasPassed {
        if deadline.nanoseconds == nil && loop == nil { doPooledWork(for: promise, thread) }
        // Outside of foreign code nothing waits for this thread, so it looks for a while before it enters the queue:
        // then a thread that settles the promise has no waiter to wake. The load that sees the value acquires it.
        if settlesSoon(promise) { return .settled }
    }
    return wait(for: promise, until: deadline, running: nil, thread)
}

// MARK: Taking work back from the pool
//
// A thread outside of handlers that waits without a time-out would only sleep. If the promise waits for a reaction that
// stands in the pool's queue, the thread takes the reaction out and runs it. The pool's lock decides between this thread and
// a worker, and the thread that has taken the reaction has the queue's reference. The worker that was called for it finds the
// queue without it and becomes idle. The thread stands at the pool's `Place` meanwhile, and waits inside the handler are
// waits of this thread: they block the same executors as before.
//
// While the handler runs the thread does not return, so the promise must not settle without it: the search goes upstream only
// where no token cancels the link alone, and from a promise's only reader, whose cancelling waits for the running handler.
// Nobody else gets a handle of that promise.

/// The promises that the search visits, the reactions of the queue that it looks at, and the stack that a handler of the
/// pool may expect.
private let mostVisited = 16
private let mostSearched = 64
private let stackOfHandler = 512 * 1024

private func doPooledWork(for promise: RecordPointer, _ thread: ThreadPointer) {
    while let reaction = takePooled(for: promise, thread) {
        // As on a worker: the handler is no cancellation point, and a fiber may be suspended.
        let cancel = vow_platform_hold_cancel()
        let nestsWaits = thread.pointee.nestsWaits
        thread.pointee.nestsWaits = false
        runPooled(reaction, looksForWorkNext: false, thread)
        thread.pointee.nestsWaits = nestsWaits
        vow_platform_let_cancel(cancel)
    }
}

/// Goes from a promise upstream to the reaction that has to run next, and takes the reaction out of the pool's queue.
private func takePooled(for promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    var current = promise
    var visited: RecordPointer?
    defer { visited?.endVisit(thread) }
    for _ in 0..<mostVisited {
        let word = current.pointee.state.read()
        if word.hasValue || isForkedChild { return nil }
        let isIdle = word.phase == .open || word.phase == .cancelled
        if isIdle && !current.pointee.shape.isReaction { return nil }
        let upstream = current.lockedUpstream().promise
        guard let upstream, !upstream.pointee.state.read().hasValue else {
            upstream?.endVisit(thread)
            let isPooled = isIdle && current.executor == ownExecutors.pool
            return isPooled && vow_platform_has_stack_for(stackOfHandler) != 0
                && takeFromPool(current, within: mostSearched) ? current : nil
        }
        let mayLeave = current.pointee.shape.isTravelling || upstream.nowCounts.readers != 1
        visited?.endVisit(thread)
        visited = upstream
        if mayLeave { return nil }
        current = upstream
    }
    return nil
}

private func settlesSoon(_ promise: RecordPointer) -> Bool {
    for _ in 0..<Parking.looks {
        if promise.pointee.state.read().hasValue { return true }
        vow_platform_relax()
    }
    return false
}

/// Waits, and runs a loop (borrowed) until then.
func wait(
    for promise: RecordPointer, until deadline: Deadline, running loop: LoopPointer?,
    _ thread: ThreadPointer
) -> WaitResult {
    if promise.isLeftInStep { return .forked }
    if let loop, let fiber = fiberPinned(to: loop, thread) {
        return suspend(fiber, pinnedTo: loop, until: promise, deadline, thread)
    }
    return withUnsafeTemporaryAllocation(byteCount: MemoryLayout<Record>.stride, alignment: 16) {
        memory in
        guard let waiter = memory.baseAddress?.bindMemory(to: Record.self, capacity: 1) else {
            fatal("no stack for a waiting thread")
        }
        let word = loop.map { Parking.inLoop(raising: $0.pointee.event) } ?? Parking.awake
        waiter.initialize(to: Record(.open, shape: .waiter, promises: word, producers: 0))
        let ambient = ambientSerialExecutor(thread)
        defer { ambient?.release(thread) }
        let place = WaitingPlace(thread, running: loop?.pointee.executor, ambient: ambient)
        let waiting = WaitingThread(
            waiter: waiter, promise: promise, until: deadline, place: place, thread)
        return whileListed(waiting, thread) { waiting in
            if promise.pointee.state.enlist(waiter, while: .ofWaiters) != nil { return .settled }
            let began = isTracing ? noteWaits(waiter, for: promise) : 0
            defer { if began != 0 { noteWaited(waiter, for: promise, since: began) } }
            let result: WaitResult
            if let loop {
                result =
                    whileRunning(loop, thread) {
                        wait(as: waiting, until: deadline, loop, thread)
                    } ?? .isBusy
            } else {
                result = sleep(waiting, until: deadline, thread)
            }
            if case .settled = result { return .settled }
            return withdraw(waiter, from: promise) ? result : .settled
        }
    }
}

private func sleep(
    _ waiting: WaitingPointer, until deadline: Deadline, _ thread: ThreadPointer
) -> WaitResult {
    let waiter = waiting.pointee.waiter
    let worker = waiting.pointee.place.worker
    while true {
        if !drainInsideWait(thread) { return .deadlock }
        if waiter.pointee.counts.loadAcquire() == Parking.done { return .settled }
        switch lookAhead(for: waiting, until: deadline, thread) {
        case .deadlock: return .deadlock
        case .forked: return .forked
        case .runnable(let reaction):
            runPooledInside(reaction, thread)
            continue
        case .blocked: break
        }
        // The look may have freed something, whose destructor may have done anything.
        if !thread.hasDone(through: .ready) { continue }
        if let worker, !lendPlaceInPool(worker, thread) { return .noThread }
        let inTime = park(waiter.pointee.counts, at: waiter.parkingAddress, until: deadline)
        if let worker { takePlaceInPoolBack(worker) }
        if !inTime { return .timedOut }
    }
}

/// Runs the pool's reaction inside the wait for it.
private func runPooledInside(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    run(reaction, thread)
    count(thread.cell.pointee.counters.workEnded)
}

/// `sleep` for a thread that runs a loop: it takes the loop's next step instead of parking.
private func wait(
    as waiting: WaitingPointer, until deadline: Deadline, _ loop: LoopPointer,
    _ thread: ThreadPointer
) -> WaitResult {
    let (waiter, promise) = (waiting.pointee.waiter, waiting.pointee.promise)
    let worker = waiting.pointee.place.worker
    let patience = LoopPatience(loop, until: deadline)
    while true {
        if thread.pointee.foreignDepth > 0 && !hasStackLeft() { return .deadlock }
        if !drainInsideWait(thread) { return .deadlock }
        waiter.takeNudge()
        // The thread that has published the value is about to say `done`; see `wake`.
        if promise.pointee.state.read().hasValue { return waitUntilDone(waiter) }
        switch lookAhead(for: waiting, until: deadline, thread) {
        case .deadlock: return .deadlock
        case .forked: return .forked
        case .runnable(let reaction):
            runPooledInside(reaction, thread)
            continue
        case .blocked: break
        }
        if !thread.hasDone(through: .ready) { continue }
        if let worker, !lendPlaceInPool(worker, thread) { return .noThread }
        let step = takeStep(
            of: loop, patience, thread, until: promise,
            unless: { waiter.isNudged })
        if let worker { takePlaceInPoolBack(worker) }
        switch step {
        case .lookAgain: continue
        case .timedOut: return .timedOut
        case .shutDown: return .shutDown
        case .forked: return .forked
        }
    }
}

private func waitUntilDone(_ waiter: RecordPointer) -> WaitResult {
    var pause = Backoff()
    while waiter.pointee.counts.loadAcquire() != Parking.done { pause.wait() }
    return .settled
}

/// Takes the waiter out of the queue. False: the settling thread has taken it. Then this function returns when that
/// thread does not need the waiter's memory any more.
func withdraw(_ waiter: RecordPointer, from promise: RecordPointer) -> Bool {
    if promise.isLeftInStep && promise.pointee.state.read().isLocked {
        // The wait began before the fork.
        promise.pointee.state.removeAsOnlyThread(waiter)
        return true
    }
    if unlink(waiter, outOf: promise.pointee.state) { return true }
    _ = waitUntilDone(waiter)
    return false
}

/// The calling thread's custom executor, if it runs one handler at a time; owned.
private func ambientSerialExecutor(_ thread: ThreadPointer) -> ExecutorPointer? {
    guard let ambient = ambientExecutor(thread) else { return nil }
    if ambient.pointee.isSerial { return ambient }
    ambient.release(thread)
    return nil
}
