// Leaving: a hook whose handle somebody has is taken out of its list, in constant time and from anywhere.
//
// Two steps. The first, on the hook's own word, decides that it will not be called, against who begins to call it. The
// second takes it out of its list, unless that has been emptied meanwhile: then who has emptied it destroys the context.
//
// A token's list is its source's, whose memory the hook keeps. A promise's lives as long as the promise, which the hook
// must not keep: it would be one reader or producer too many. So whoever empties that list tells each hook with a handle
// under its stripe, before it lets go of the promise; and who leaves looks at the promise under that stripe, only while
// the hook has not been told. Stripes come before the promise's lock.

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
