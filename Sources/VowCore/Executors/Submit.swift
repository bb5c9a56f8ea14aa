// Handing a reaction to its executor. Foreign code may run here (a custom executor's `submit`), so no lock is held.
//
// A reaction that names no executor gets the running handler's, else that of the loop or custom executor whose thread this
// is, else the default. A thread that works for an executor has a `Place`, which says so, and counts what it owes the
// executor afterwards. A reaction that its executor cannot run is rejected.

import CVow

func submit(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let executor = reaction.executor else { fatal("a reaction has no executor") }
    switch executor.pointee.kind {
    case .inline: thread.pointee.agenda.ready.append(reaction)
    case .custom: submitCustom(reaction, executor, thread)
    case .loop: submitToLoop(reaction, executor, thread)
    case _ where refusesWork: refuse(reaction, isForkedChild ? .forked : .shutDown, thread)
    case .serial: submitSerial(reaction, executor, thread)
    default: submitElsewhere(reaction, executor, thread)
    }
}

/// The queue of work of the executor that this thread works for, if that is to run the reaction: whoever appends it
/// there has submitted it, without any foreign code. What others pushed before is taken first.
@inline(__always)
func ownQueue(
    for reaction: RecordPointer, _ thread: ThreadPointer
) -> UnsafeMutablePointer<MemberList>? {
    guard let place = thread.pointee.place, !reaction.isInline,
        reaction.executorElsewhere == place.pointee.executor
    else { return nil }
    return ownQueue(of: place.pointee.executor, thread)
}

private func ownQueue(
    of executor: ExecutorPointer, _ thread: ThreadPointer
) -> UnsafeMutablePointer<MemberList>? {
    switch executor.pointee.kind {
    case .serial where !refusesWork:
        count(thread.cell.pointee.counters.workGiven)
        takeIntake(executor)
    case .loop where executor.loop.isUsable && executor.loop.isRun(by: thread):
        takeIntake(of: executor)
    default:
        return nil
    }
    return executor.batch
}

/// The executor of a reaction, if it is one on a serial dispatch queue that takes work, and not this thread's own.
@inline(__always)
func serialExecutor(for reaction: RecordPointer, _ thread: ThreadPointer) -> ExecutorPointer? {
    guard !reaction.isInline, let executor = reaction.executorElsewhere,
        executor.pointee.kind == .serial, !refusesWork,
        thread.pointee.place?.pointee.executor != executor
    else { return nil }
    return executor
}

private func submitElsewhere(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    count(thread.cell.pointee.counters.workGiven)
    switch executor.pointee.kind {
    case .pool: submitPooled(reaction, thread)
    case .dispatch: executor.pointee.queue?.submit(reaction, runDispatched)
    case .barrier:
        executor.pointee.queue?.submitBarrier(reaction, runDispatched)
        nudgeWaitingThreads(blocking: executor)
    case .inline, .custom, .loop, .serial: fatal("an executor with a way of its own")
    }
}

private func runDispatched(_ work: UnsafeMutableRawPointer?) {
    guard let reaction = work?.assumingMemoryBound(to: Record.self) else { return }
    let thread = currentThread()
    runWholly(reaction, thread)
    count(thread.cell.pointee.counters.workEnded)
}

/// For executors that give each reaction a call of its own: runs it and what follows on this thread.
private func runWholly(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let executor = reaction.executor else { fatal("a reaction has no executor") }
    executor.retain()
    withPlace(at: executor, thread) {
        perform(reaction, thread)
        leave(thread)
    }
    executor.release(thread)
    leave(thread)
}

private func submitCustom(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    guard let submit = executor.checkedClass?.pointee.submit else { return }
    // The work may run, and give up the last reference, before `submit` returns.
    executor.retain()
    let outer = thread.pointee.isSubmitting
    thread.pointee.isSubmitting = true
    runForeign(thread) { submit(executor.pointee.context, runCustom, reaction) }
    thread.pointee.isSubmitting = outer
    if executor.pointee.isSerial { nudgeWaitingThreads(blocking: executor) }
    executor.release(thread)
}

private func runCustom(_ work: UnsafeMutableRawPointer?) {
    guard let reaction = work?.assumingMemoryBound(to: Record.self) else {
        fatal("an executor ran NULL")
    }
    let thread = currentThread()
    if thread.pointee.isSubmitting {
        // Inside its own `submit`: a handler must not run inside the call that registered or resolved.
        thread.pointee.agenda.ready.append(reaction)
        return
    }
    runWholly(reaction, thread)
}

// MARK: The executor of a reaction that names none

/// The default. Without the lock, `shortcut` is the address of one that lives for ever, or 0 for the pool, or
/// `noShortcut`; that also before anybody has asked.
private let standardLock = SpinLock()
private let shortcut = AtomicWord(noShortcut)
private let noShortcut: UInt64 = 1
nonisolated(unsafe) private var standard: ExecutorPointer?

/// Owned by the reaction.
@inline(__always)
func executorForReaction(_ named: ExecutorPointer?, _ thread: ThreadPointer) -> ExecutorPointer {
    if let executor = named ?? thread.pointee.frame?.pointee.executor {
        executor.retain()
        return executor
    }
    return executorOutsideHandlers(thread)
}

@inline(__always)
private func executorOutsideHandlers(_ thread: ThreadPointer) -> ExecutorPointer {
    // A loop's reference is its executor's.
    homeLoop(thread)?.pointee.executor ?? ambientExecutor(thread) ?? standardExecutor(thread)
}

@inline(__always)
private func standardExecutor(_ thread: ThreadPointer) -> ExecutorPointer {
    let word = shortcut.loadAcquire()
    if word == noShortcut { return standardExecutorSlowly(thread) }
    return ExecutorPointer(bitPattern: UInt(word)) ?? ownExecutors.pool
}

@inline(never)
private func standardExecutorSlowly(_ thread: ThreadPointer) -> ExecutorPointer {
    prepareWorkers(thread)
    return standardLock.withLock {
        if standard == nil && hasWorkers { shortcut.storeRelease(wayTo(nil)) }
        let executor: ExecutorPointer = standard ?? ownExecutors.pool
        executor.retain()
        return executor
    }
}

/// - Parameter executor: borrowed, kept; nil: the pool.
func setStandardExecutor(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    executor?.retain()
    if executor == nil { prepareWorkers(thread) }
    let before = standardLock.withLock {
        let before = standard
        standard = executor
        shortcut.storeRelease(wayTo(executor))
        return before
    }
    before?.release(thread)
}

private func wayTo(_ executor: ExecutorPointer?) -> UInt64 {
    guard let executor else { return 0 }
    return executor.pointee.isImmortal ? UInt64(UInt(bitPattern: executor)) : noShortcut
}

/// Around a fork.
func lockStandardExecutor() { standardLock.lock() }
func unlockStandardExecutor() { standardLock.unlock() }

// MARK: That a thread works for an executor

/// Works for an executor, which the caller keeps alive.
@inline(__always)
func withPlace(at executor: ExecutorPointer, _ thread: ThreadPointer, _ body: () -> Void) {
    var place = Place(executor: executor, outer: thread.pointee.place)
    withUnsafeMutablePointer(to: &place) {
        thread.pointee.place = $0
        body()
    }
    thread.pointee.place = place.outer
    executor.release(place.runs, thread)
}

extension ExecutorPointer {
    /// Nil: what it runs may as well be run by any thread. Only the address is looked at.
    var ownsThread: ExecutorPointer? {
        self == ownExecutors.pool || self == ownExecutors.inline ? nil : self
    }
}

/// This thread works for the executor, or is the one that its loop is run by. A custom executor is not asked.
@inline(never)
func isAt(_ executor: ExecutorPointer, _ thread: ThreadPointer) -> Bool {
    if thread.pointee.place?.pointee.executor == executor { return true }
    return executor.pointee.kind == .loop
        && executor.loop.pointee.home.loadRelaxed() == word(of: thread)
}

/// The executor of a reaction that has run: whoever works for it gives all those references back together.
@inline(__always)
func releaseAfterRun(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    if let place = thread.pointee.place, place.pointee.executor == executor {
        place.pointee.runs &+= 1
    } else {
        executor?.release(thread)
    }
}

// MARK: Work that its executor cannot run

/// Why an executor cannot run a reaction.
enum Refusal {
    /// In a forked child.
    case forked
    /// It is an event loop that was destroyed, or the library's work in the process has ended.
    case shutDown
    /// The system gives no thread.
    case noThread
}

/// Rejects a reaction that its executor cannot run. A context is destroyed when the hand-over is over.
func refuse(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    switch reason {
    case .forked: reaction.passage.insert(.isRefused)
    case .shutDown: reaction.passage.insert([.isRefused, .isShutOut])
    case .noThread: reaction.passage.insert([.isRefused, .lacksThread])
    }
    performRefused(reaction, thread)
}
