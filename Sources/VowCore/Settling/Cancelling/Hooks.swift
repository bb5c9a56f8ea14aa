// Calling what producers have asked to be called, and what was given to tokens: foreign code, so it is put off until no
// member of a settled promise is on its way. `Registrations` has how one leaves.

import CVow

/// Hooks (the newest, with those before it) have left their promise or token: they are called, or only destroyed.
/// - Parameter unread: called unless this promise (borrowed) is resolved before.
@inline(never)
func dismiss(
    _ hooks: HookPointer, areCalled: Bool, unlessResolved unread: RecordPointer? = nil,
    _ thread: ThreadPointer
) {
    var oldestFirst: HookPointer?
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.next
        if areCalled {
            hook.pointee.fate = unread == nil ? .called : .calledUnlessResolved
            hook.pointee.promise = unread
            unread?.retainProducer()
        }
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
        if isToBeCalled(hook, thread) && hook.begin() {
            let (fn, context) = (hook.pointee.fn, hook.pointee.context)
            runForeign(thread) { fn(context) }
            hook.end()
        } else {
            _ = hook.giveUp()
        }
        let (destroy, context) = (hook.pointee.destroy, hook.pointee.context)
        if let destroy { runForeign(thread) { destroy(context) } }
        hook.release(thread)
    }
}

private func isToBeCalled(_ hook: HookPointer, _ thread: ThreadPointer) -> Bool {
    switch hook.pointee.fate {
    case .destroyed: return false
    case .called: return true
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
    promise.pointee.state.unlock(word.phase, word.head)
    hook.pointee.registration.isListed = false
    hook.pointee.promise = nil
    // Not one that its producer has rejected with a cancellation, or that followed and was cancelled then.
    let isCancelled =
        promise.pointee.flags.contains(RecordFlag.cancelled)
        && !promise.pointee.flags.contains(RecordFlag.follows)
    if isOpen {
        dismiss(hook, areCalled: true, unlessResolved: promise, thread)
    } else {
        dismiss(hook, areCalled: isCancelled, thread)
    }
}

/// Adds a hook (consumed) to a token, or dismisses it.
func addHook(_ hook: HookPointer, to source: SourcePointer, _ thread: ThreadPointer) {
    let isEntered = source.pointee.lock.withLock {
        // Else nobody can cancel any more. Whoever was the last one empties the list under this lock.
        if source.pointee.rejection != nil || !source.canBeCancelled { return false }
        return source.enter(hook.asRegistration)
    }
    if !isEntered { dismiss(hook, areCalled: source.pointee.isCancelled.isSet, thread) }
}
