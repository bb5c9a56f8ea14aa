// Calling what producers have asked to be called: foreign code, so it is put off until no member of a settled
// promise is on its way.

import CVow

/// Hooks (newest first) leave their promise: they are called, or only destroyed.
@inline(never)
func dismiss(_ hooks: HookPointer, areCalled: Bool, _ thread: ThreadPointer) {
    var oldestFirst: HookPointer?
    var next: HookPointer? = hooks
    while let hook = next {
        next = hook.pointee.next
        hook.pointee.isCalled = areCalled
        hook.pointee.next = oldestFirst
        oldestFirst = hook
    }
    var last = thread.pointee.hooks
    while let hook = last, hook.pointee.next != nil { last = hook.pointee.next }
    if let last { last.pointee.next = oldestFirst } else { thread.pointee.hooks = oldestFirst }
    if !thread.pointee.isHandingOver { finishHandingOver(thread) }
}

/// Calls those that wait on this thread. Also nested, from a wait inside one.
func runHooks(_ thread: ThreadPointer) {
    while let hook = thread.pointee.hooks {
        thread.pointee.hooks = hook.pointee.next
        let (fn, context, destroy) = (hook.pointee.fn, hook.pointee.context, hook.pointee.destroy)
        if hook.pointee.isCalled { runForeign(thread) { fn(context) } }
        if let destroy { runForeign(thread) { destroy(context) } }
        giveMemoryBack(hook, MemoryLayout<Hook>.stride)
    }
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
    let isCancelled = promise.pointee.flags.contains(RecordFlag.withdrawn)
    dismiss(hook, areCalled: isCancelled || (isOpen && isUnread), thread)
}
