// Calling what producers have asked to be called: foreign code, so it is put off until no member of a settled
// promise is on its way.

import CVow

/// Hooks (newest first) leave their promise: they are called, or only destroyed.
/// - Parameter unread: called unless this promise (borrowed) is resolved before.
@inline(never)
func dismiss(
    _ hooks: HookPointer, areCalled: Bool, unlessResolved unread: RecordPointer? = nil,
    _ thread: ThreadPointer
) {
    var oldestFirst: HookPointer?
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.pointee.next
        hook.pointee.isCalled = areCalled
        hook.pointee.unread = unread
        unread?.retainProducer()
        hook.pointee.next = oldestFirst
        oldestFirst = hook
    }
    // `hooks` is the newest, and the last here.
    hooks.pointee.next = thread.pointee.newestHook?.pointee.next ?? oldestFirst
    thread.pointee.newestHook?.pointee.next = oldestFirst
    thread.pointee.newestHook = hooks
    if !thread.pointee.isHandingOver { finishHandingOver(thread) }
}

/// Calls those that wait on this thread. Also nested, from a wait inside one.
func runHooks(_ thread: ThreadPointer) {
    while let newest = thread.pointee.newestHook, let hook = newest.pointee.next {
        if hook == newest {
            thread.pointee.newestHook = nil
        } else {
            newest.pointee.next = hook.pointee.next
        }
        let (fn, context, destroy) = (hook.pointee.fn, hook.pointee.context, hook.pointee.destroy)
        var isCalled = hook.pointee.isCalled
        if let promise = hook.pointee.unread {
            isCalled = isUnresolved(promise)
            promise.releaseProducer(thread)
        }
        if isCalled { runForeign(thread) { fn(context) } }
        if let destroy { runForeign(thread) { destroy(context) } }
        giveMemoryBack(hook, MemoryLayout<Hook>.stride)
    }
}

/// Of a promise that nobody reads: its producer has not been quicker. To be broken at this moment is no resolving.
private func isUnresolved(_ promise: RecordPointer) -> Bool {
    let word = promise.pointee.state.read()
    if word.phase == .open { return true }
    return word.hasValue && promise.pointee.flags.contains(RecordFlag.dropped)
}

/// Adds a hook (consumed) to a promise, of whose producer the caller is one.
func addHook(_ hook: HookPointer, to promise: RecordPointer, _ thread: ThreadPointer) {
    let word = promise.pointee.state.lock()
    let isOpen = word.phase == .open && !promise.pointee.shape.contains(.immortal)
    // Nobody can come back to read it once nobody is left.
    let isUnread = promise.pointee.counts.loadAcquire() & 0xffff_ffff == 0
    if isOpen && !isUnread {
        hook.pointee.next = promise.hooks
        promise.hooks = hook
        promise.pointee.state.unlock(word.phase, word.head)
        return
    }
    promise.pointee.state.unlock(word.phase, word.head)
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
