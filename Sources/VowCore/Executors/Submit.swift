// Handing a reaction to its executor. Foreign code may run here (a custom executor's `submit`), so no lock is held.
//
// A reaction that names no executor gets the running handler's; else that of the thread's loop or custom executor; else the
// default. A thread that works for an executor has a `Place`, which also counts the references that it owes the executor.
// A reaction that its executor cannot run is rejected.

import CVow

func submit(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let executor = reaction.executor else { fatal("a reaction has no executor") }
    switch executor.pointee.kind {
    case .inline: thread.pointee.agenda.ready.append(reaction)
    case .custom: submitCustom(reaction, executor, thread)
    case .loop: submitToLoop(reaction, executor, thread)
    case _ where refusesWork: refuse(reaction, isForkedChild ? .forked : .shutDown, thread)
    case .serial: submitSerial(reaction, executor, thread)
    case .pool: submitPooled(MemberList(reaction), 1, thread)
    default: submitElsewhere(reaction, executor, thread)
    }
}

/// The queue of the executor that the thread works for, if that executor is to run the reaction. Appending to the queue submits
/// the reaction without foreign code. Reactions that other threads pushed before go first.
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

/// The executor of a reaction, if it takes work in batches: the pool, or a serial one that is not this thread's own.
@inline(__always)
func executorOfBatch(for reaction: RecordPointer, _ thread: ThreadPointer) -> ExecutorPointer? {
    guard !reaction.isInline, let executor = reaction.executorElsewhere, !refusesWork else {
        return nil
    }
    switch executor.pointee.kind {
    case .pool: return executor
    case .serial: return thread.pointee.place?.pointee.executor == executor ? nil : executor
    default: return nil
    }
}

/// Submits a reaction and the reactions that `next` returns after it, in one step.
@inline(__always)
func submit(
    _ oldest: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer,
    next: () -> RecordPointer?
) {
    if executor != ownExecutors.pool {
        submitSerial(oldest, executor, thread, next: next)
        return
    }
    var added = MemberList(oldest)
    var number = 1
    while let reaction = next() {
        added.append(reaction)
        number += 1
    }
    submitPooled(added, number, thread)
}

private func submitElsewhere(
    _ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer
) {
    count(thread.cell.pointee.counters.workGiven)
    switch executor.pointee.kind {
    case .dispatch: executor.pointee.queue?.submit(reaction, runDispatched)
    case .barrier:
        executor.pointee.queue?.submitBarrier(reaction, runDispatched)
        nudgeWaitingThreads(blocking: executor)
    case .inline, .pool, .custom, .loop, .serial: fatal("an executor with a way of its own")
    }
}

private func runDispatched(_ work: UnsafeMutableRawPointer?) {
    guard let reaction = work?.assumingMemoryBound(to: Record.self) else { return }
    let thread = currentThread()
    runWholly(reaction, thread)
    count(thread.cell.pointee.counters.workEnded)
}

/// Runs one reaction and its consequences on this thread, for an executor that gives each reaction a call of its own.
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
    // The reaction may run, and release the last reference, before `submit` returns.
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
        // The executor runs the work inside `submit`; the handler must not run inside the call that registered or resolved.
        thread.pointee.agenda.ready.append(reaction)
        return
    }
    runWholly(reaction, thread)
}

// MARK: The executor of a reaction that names none

/// The default executor. `shortcut` gives it without the lock: the address of an immortal executor, 0 for the pool, or
/// `noShortcut`, also before the first use.
private let standardLock = SpinLock()
private let shortcut = AtomicWord(noShortcut)
private let noShortcut: UInt64 = 1
nonisolated(unsafe) private var standard: ExecutorPointer?

/// The reaction owns the result.
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
    // A reference to a loop is a reference to its executor.
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

/// - Parameter executor: borrowed and retained; nil: the pool.
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

func lockStandardExecutor() { standardLock.lock() }
func unlockStandardExecutor() { standardLock.unlock() }

// MARK: The executor that a thread works for

/// Runs `body` as work for an executor, which the caller keeps alive.
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
    /// The executor, unless any thread may run its reactions. Only the address is read.
    var ownsThread: ExecutorPointer? {
        self == ownExecutors.pool || self == ownExecutors.inline ? nil : self
    }
}

/// Whether the thread works for the executor, or is the home of its loop. A custom executor is not asked.
@inline(never)
func isAt(_ executor: ExecutorPointer, _ thread: ThreadPointer) -> Bool {
    if thread.pointee.place?.pointee.executor == executor { return true }
    return executor.pointee.kind == .loop
        && executor.loop.pointee.home.loadRelaxed() == word(of: thread)
}

/// Releases the executor of a reaction that has run. A thread that works for the executor releases all references together.
@inline(__always)
func releaseAfterRun(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    if let place = thread.pointee.place, place.pointee.executor == executor {
        place.pointee.runs &+= 1
    } else {
        executor?.release(thread)
    }
}

// MARK: Work that its executor cannot run

/// The reason why an executor cannot run a reaction.
enum Refusal {
    case forked
    /// The loop was destroyed, or the library's work in the process has ended.
    case shutDown
    /// The system gives no thread.
    case noThread
}

/// Rejects a reaction that its executor cannot run. Its context is destroyed after the hand-over.
func refuse(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    switch reason {
    case .forked: reaction.passage.insert(.isRefused)
    case .shutDown: reaction.passage.insert([.isRefused, .isShutOut])
    case .noThread: reaction.passage.insert([.isRefused, .lacksThread])
    }
    performRefused(reaction, thread)
}
