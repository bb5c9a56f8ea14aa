// Calling what producers have asked to be called, and what was given to tokens, when a promise or a token is cancelled:
// foreign code, so the call is put off until no member of a settled promise is on its way. And leaving: a hook whose handle
// the program has is taken out of its list, in constant time and from anywhere.

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
    drainLeftoversUnlessBusy(thread)
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

// MARK: Leaving
//
// A hook leaves in two steps. The first, on the hook's own word, decides that its function will not be called, against the
// thread that begins to call it. The second takes the hook out of its list, unless that has been emptied meanwhile: then the
// thread that has emptied the list destroys the context.
//
// A token's list is its source's, whose memory the hook keeps. A promise's list lives as long as the promise, which the hook
// must not keep: it would be one reader or producer too many. So a thread that empties that list tells each hook with a
// handle under its stripe, before the thread lets go of the promise; and a thread that has a hook leave looks at the promise
// under that stripe, only while the hook has not been told. Stripes come before the promise's lock.

/// What was decided about the function. It is not called once this has returned VOW_NEVER_RUNS.
func leave(_ hook: HookPointer, _ thread: ThreadPointer) -> UInt64 {
    if hook.giveUp() && takeOut(hook) {
        hook.next = nil
        dismiss(hook, .destroyed, thread)
    }
    return hook.pointee.stage.loadAcquire()
}

/// False when it is out already.
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
        // Who takes the list takes all of it, and either decides about the promise or leaves none.
        if word.phase != .open || promise.hooks == nil { return false }
        let (newer, older) = (hook.previous, hook.next)
        if let newer { newer.next = older } else { promise.hooks = older }
        older?.previous = newer
        hook.pointee.registration.isListed = false
        return true
    }
}

/// The hooks (the newest, with those before it) of a promise, which the caller keeps, have been taken: those who leave
/// look at it no more.
func noteTaken(_ hooks: HookPointer) {
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.next
        // Written by us alone now.
        if hook.pointee.registration.isListed {
            withStripe(stripe(of: hook)) { hook.pointee.registration.isListed = false }
        }
    }
}

/// Hooks of a promise (consumed: one producer's reference) that somebody has resolved are only destroyed.
func dismissTaken(_ hooks: HookPointer, of promise: RecordPointer, _ thread: ThreadPointer) {
    noteTaken(hooks)
    promise.releaseProducer(thread)
    dismiss(hooks, .destroyed, thread)
}

private func stripe(of hook: HookPointer) -> Int { stripe(for: UInt(bitPattern: hook) >> 4) }

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Hook {
    func retain() { _ = pointee.holds.addRelaxed(1) }

    /// For the first handle: the token's list, which the hook leaves, is memory of its source.
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
