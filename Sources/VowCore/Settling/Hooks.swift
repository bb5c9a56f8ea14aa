// Calling hooks: functions that a producer has added to its promise, or the program to a token. They are called when the
// promise or token is cancelled. A hook is foreign code, so the call waits until no member of a settled promise is on its way.
//
// Owners of a hook's fields:
//
//   next, previous     in a token's list: the source's lock; in a promise's: as `hooks` of the record; then the thread that
//                      took the list
//   promise, isListed  of a hook with a handle: constant until the hook is taken; written under its stripe then. Afterwards
//                      the thread that has taken it
//   stage              atomic: one step from *waiting*
//
// *Leaving* has two steps. The first decides about the call: `stage` goes once from *waiting* to *running* (`begin`), by the
// thread that has the hook on its list, right before the call; or to *never* (`giveUp`), by a thread that has the hook leave,
// or by the thread that has it on its list and does not call it. So a hook that was taken already can still leave. `giveUp`
// releases, and a load of the stage acquires: a thread that reads *has run* sees what the function did.
//
// The second step takes the hook out of its list, unless the list was emptied; then the thread that emptied it destroys the
// context. A token's list is under its source's lock, and the hook keeps the source's memory (`keepers`). A promise's list
// lives as long as the promise, which a hook must not keep. So the thread that takes that list (all of it, under the promise's
// lock, by the step that decides or leaving none) tells each hook with a handle, under its stripe, before it lets go of the
// promise (`noteTaken`). A leaving thread looks under that stripe: while the hook is not told, the promise lives, and its lock
// says whether the list is there. Stripes come before locks of promises, and a fork holds all stripes.

import CVow

/// Calls or destroys hooks (the newest, with the older ones) that have left their promise or token.
/// - Parameters:
///   - fate: of all of them.
///   - promise: borrowed; it is cancelled, or has no reader.
@inline(never)
func dismiss(
    _ hooks: HookPointer, _ fate: Hook.Fate, of promise: RecordPointer? = nil,
    _ thread: ThreadPointer
) {
    var oldestFirst: HookPointer?
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.next
        hook.pointee.fate = fate
        hook.pointee.promise = promise
        if fate == .calledUnlessResolved { promise?.retainProducer() }
        hook.next = oldestFirst
        oldestFirst = hook
    }
    // `hooks` is the newest, and the last here.
    hooks.next = thread.pointee.agenda.newestHook?.next ?? oldestFirst
    thread.pointee.agenda.newestHook?.next = oldestFirst
    thread.pointee.agenda.newestHook = hooks
    if !thread.pointee.agenda.draining.contains(.handOver) { drainLeftovers(thread) }
}

/// Calls the hooks on this thread's list. Also nested, from a wait inside a hook.
func runHooks(_ thread: ThreadPointer) {
    while let newest = thread.pointee.agenda.newestHook, let hook = newest.next {
        if hook == newest {
            thread.pointee.agenda.newestHook = nil
        } else {
            newest.next = hook.next
        }
        let cancelled = hook.pointee.fate == .calledOfCancelled ? hook.pointee.promise : nil
        if let cancelled {
            // The promise is not settled before its hooks have returned; a wait for it in a hook must be seen.
            withFrame(of: cancelled, nil, on: thread.pointee.frame?.pointee.executor, thread) {
                run(hook, thread)
            }
        } else {
            runForeign(thread) { run(hook, thread) }
        }
        hook.release(thread)
        if let cancelled { endTelling(cancelled, thread) }
    }
}

private func run(_ hook: HookPointer, _ thread: ThreadPointer) {
    let (fn, destroy, context) = (hook.pointee.fn, hook.pointee.destroy, hook.pointee.context)
    let surroundings = hook.surroundings?.pointee
    if isToBeCalled(hook, thread) && hook.begin() {
        carrying(surroundings?.retained(), thread) { fn(context) }
        hook.end()
    } else {
        _ = hook.giveUp()
    }
    if let destroy {
        carrying(surroundings, thread) { destroy(context) }
    } else {
        surroundings?.release(thread)
    }
}

/// In a promise's list, under its lock.
func countHooks(_ newest: HookPointer) -> UInt32 {
    var count: UInt32 = 0
    var next: HookPointer? = newest
    while let hook = next {
        next = hook.next
        count += 1
    }
    return count
}

/// Counts a hook that has returned. The last one settles the promise, unless its producer is still to do that. One visit has
/// kept the promise for all hooks: a producer's reference would keep the last resolver from breaking it.
private func endTelling(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let word = promise.pointee.state.lock()
    promise.hooksLeft -= 1
    let isLast = promise.hooksLeft == 0
    let settles =
        isLast && (promise.isDoneMeanwhile || !promise.pointee.shape.contains(.cooperative))
    if settles { promise.isDoneMeanwhile = false }
    promise.pointee.state.unlock(settles ? .claimed : word.phase, word.head)
    asOneStep(thread) {
        if settles { settleTold(promise, thread) }
        if isLast { promise.endVisit(thread) }
    }
}

private func isToBeCalled(_ hook: HookPointer, _ thread: ThreadPointer) -> Bool {
    switch hook.pointee.fate {
    case .destroyed: return false
    case .called, .calledOfCancelled: return true
    case .calledUnlessResolved:
        guard let promise = hook.pointee.promise else { return true }
        let isUnresolved = isUnresolved(promise)
        promise.releaseProducer(thread)
        return isUnresolved
    }
}

/// The producer of a promise without a reader has not resolved it. A promise that is being broken is unresolved.
private func isUnresolved(_ promise: RecordPointer) -> Bool {
    let word = promise.pointee.state.read()
    if word.phase == .open { return true }
    return word.hasValue && promise.pointee.flags.contains(RecordFlag.dropped)
}

/// Adds a hook (consumed) to a promise; the caller is its producer.
/// - Parameter hasHandle: another thread may have the hook leave, as soon as it is listed.
func addHook(
    _ hook: HookPointer, to promise: RecordPointer, hasHandle: Bool = false, _ thread: ThreadPointer
) {
    hook.pointee.promise = promise
    hook.pointee.registration.isListed = hasHandle
    let word = promise.pointee.state.lock()
    let isOpen = word.phase == .open && !promise.pointee.shape.contains(.immortal)
    // No reader can come back once none is left.
    let isUnread = promise.nowCounts.isUnread
    if isOpen && !isUnread {
        let newest = promise.hooks
        hook.next = newest
        newest?.previous = hook
        promise.hooks = hook
        promise.pointee.state.unlock(word.phase, word.head)
        return
    }
    let isTold = word.phase == .cancelled
    if isTold {
        if promise.hooksLeft == 0 { promise.visit() }
        promise.hooksLeft += 1
    }
    promise.pointee.state.unlock(word.phase, word.head)
    hook.pointee.registration.isListed = false
    hook.pointee.promise = nil
    // A promise that its producer rejected with a cancellation, or that followed and was cancelled then, does not count.
    let isCancelled =
        promise.pointee.flags.contains(RecordFlag.cancelled)
        && !promise.pointee.flags.contains(RecordFlag.follows)
    if isTold {
        dismiss(hook, .calledOfCancelled, of: promise, thread)
    } else if isOpen {
        dismiss(hook, .calledUnlessResolved, of: promise, thread)
    } else {
        dismiss(hook, isCancelled ? .called : .destroyed, thread)
    }
}

/// Adds a hook (consumed) to a token, or dismisses it.
func addHook(_ hook: HookPointer, to source: SourcePointer, _ thread: ThreadPointer) {
    let isEntered = source.pointee.lock.withLock {
        // Otherwise no call can cancel any more, and the last canceller empties the list under this lock.
        if source.pointee.rejection != nil || !source.canBeCancelled { return false }
        return source.enter(hook.asRegistration)
    }
    if !isEntered {
        dismiss(hook, source.pointee.isCancelled.isSet ? .called : .destroyed, thread)
    }
}

// MARK: Leaving

/// Returns the stage. The function is not called once this has returned VOW_NEVER_RUNS.
func leave(_ hook: HookPointer, _ thread: ThreadPointer) -> UInt64 {
    if hook.giveUp() && takeOut(hook) {
        hook.next = nil
        dismiss(hook, .destroyed, thread)
    }
    return hook.pointee.stage.loadAcquire()
}

/// Returns false if the hook is out already.
private func takeOut(_ hook: HookPointer) -> Bool {
    if let source = hook.pointee.registration.source {
        return source.pointee.lock.withLock { source.remove(hook.asRegistration) }
    }
    return withStripe(stripe(of: hook)) {
        guard hook.pointee.registration.isListed, let promise = hook.pointee.promise else {
            return false
        }
        let word = promise.pointee.state.lock()
        defer { promise.pointee.state.unlock(word.phase, word.head) }
        // A thread that takes the list takes all of it, and either decides about the promise or leaves none.
        if word.phase != .open || promise.hooks == nil { return false }
        let (newer, older) = (hook.previous, hook.next)
        if let newer { newer.next = older } else { promise.hooks = older }
        older?.previous = newer
        hook.pointee.registration.isListed = false
        return true
    }
}

/// Tells taken hooks (the newest, with the older ones) of a promise (kept) so: a leaving thread then ignores the promise.
func noteTaken(_ hooks: HookPointer) {
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.next
        // Only this thread writes it now.
        if hook.pointee.registration.isListed {
            withStripe(stripe(of: hook)) { hook.pointee.registration.isListed = false }
        }
    }
}

/// Destroys the hooks of a resolved promise (consumed: one producer's reference).
func dismissTaken(_ hooks: HookPointer, of promise: RecordPointer, _ thread: ThreadPointer) {
    noteTaken(hooks)
    promise.releaseProducer(thread)
    dismiss(hooks, .destroyed, thread)
}

private func stripe(of hook: HookPointer) -> Int { stripe(for: UInt(bitPattern: hook) >> 4) }

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Hook {
    func retain() { _ = pointee.holds.addRelaxed(1) }

    /// For the first handle: the token's list, which the hook leaves, is in its source's memory.
    func retainHandle() {
        retain()
        pointee.registration.source?.keepMemory()
    }

    @inline(never)
    func release(_ thread: ThreadPointer) {
        if pointee.holds.subtractAcquireRelease(1) != 1 { return }
        let source = pointee.registration.source
        #if VOW_CHECKED
            pointee.seal = Seal.freed
        #endif
        giveMemoryBack(self, size)
        source?.giveMemoryUp(thread)
    }
}
