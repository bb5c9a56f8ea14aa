// Calling what producers have asked to be called, and what was given to tokens: foreign code, so it is put off until no
// member of a settled promise is on its way. `Registrations` has how one leaves.

import CVow

/// Hooks (the newest, with those before it) have left their promise or token: they are called, or only destroyed.
/// - Parameters:
///   - fate: of all of them.
///   - promise: borrowed; the one that is cancelled, or that nobody reads.
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
    if !thread.pointee.agenda.isHandingOver { drainLeftovers(thread) }
}

/// Calls those that wait on this thread. Also nested, from a wait inside one.
func runHooks(_ thread: ThreadPointer) {
    while let newest = thread.pointee.agenda.newestHook, let hook = newest.next {
        if hook == newest {
            thread.pointee.agenda.newestHook = nil
        } else {
            newest.next = hook.next
        }
        let cancelled = hook.pointee.fate == .calledOfCancelled ? hook.pointee.promise : nil
        if let cancelled {
            // It is not settled before, and may be waited for in there, which must be seen.
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

/// Of a promise's list, under its lock.
func countHooks(_ newest: HookPointer) -> UInt32 {
    var count: UInt32 = 0
    var next: HookPointer? = newest
    while let hook = next {
        next = hook.next
        count += 1
    }
    return count
}

/// A function that hears of a promise's cancellation has returned. The last such function settles the promise, where the
/// producer does not, or has meanwhile. One visit has kept the promise for all of them, and ends here: a producer's reference
/// would keep the last resolver from breaking the promise.
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

/// Of a promise that nobody reads: its producer has not been quicker. To be broken at this moment is no resolving.
private func isUnresolved(_ promise: RecordPointer) -> Bool {
    let word = promise.pointee.state.read()
    if word.phase == .open { return true }
    return word.hasValue && promise.pointee.flags.contains(RecordFlag.dropped)
}

/// Adds a hook (consumed) to a promise, of whose producer the caller is one.
/// - Parameter hasHandle: somebody may have it leave, as soon as it is listed.
func addHook(
    _ hook: HookPointer, to promise: RecordPointer, hasHandle: Bool = false, _ thread: ThreadPointer
) {
    hook.pointee.promise = promise
    hook.pointee.registration.isListed = hasHandle
    let word = promise.pointee.state.lock()
    let isOpen = word.phase == .open && !promise.pointee.shape.contains(.immortal)
    // Nobody can come back to read it once nobody is left.
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
    // Not one that its producer has rejected with a cancellation, or that followed and was cancelled then.
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
        // Else nobody can cancel any more. Whoever was the last one empties the list under this lock.
        if source.pointee.rejection != nil || !source.canBeCancelled { return false }
        return source.enter(hook.asRegistration)
    }
    if !isEntered {
        dismiss(hook, source.pointee.isCancelled.isSet ? .called : .destroyed, thread)
    }
}
