// Making and freeing cancel sources. Nil when there is no memory.

import CVow

private let oneToken: UInt64 = 1 << 32
private let sources: UInt64 = 0xffff_ffff

func makeSource(
    linkedTo parents: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> SourcePointer? {
    guard let memory = takeMemory(MemoryLayout<SourceRecord>.stride) else { return nil }
    let source = memory.bindMemory(to: SourceRecord.self, capacity: 1)
    source.initialize(to: SourceRecord())
    if parents.isEmpty { return source }
    guard let memory = takeMemory(parents.count * MemoryLayout<SourceLink>.stride) else {
        source.releaseSource(thread)
        return nil
    }
    let links = memory.bindMemory(to: SourceLink.self, capacity: parents.count)
    source.pointee.links = links
    source.pointee.linkCount = parents.count
    for index in 0..<parents.count {
        let parent = SourcePointer(HandleMark.unmarked(parents[index]))
        parent?.retainToken()
        (links + index).initialize(
            to: SourceLink(registration: Registration(.link, parent), child: source))
    }
    for index in 0..<parents.count { linkUp(links + index, thread) }
    return source
}

/// Enters the parent, or takes over its cancellation.
private func linkUp(_ link: UnsafeMutablePointer<SourceLink>, _ thread: ThreadPointer) {
    guard let parent = link.pointee.registration.source else { return }
    let reason = parent.pointee.lock.withLock {
        if parent.pointee.rejection != nil { return vow_value?(parent.pointee.reason.retained()) }
        parent.enter(link.registration)
        return nil
    }
    if let reason { _ = cancelSource(link.pointee.child, reason, thread) }
}

extension UnsafeMutablePointer<SourceLink> {
    fileprivate var registration: RegistrationPointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Registration.self)
    }
}

/// Adds a hook (consumed) to a token, or dismisses it. False without memory: then the hook is left alone.
func addHook(_ hook: HookPointer, to source: SourcePointer, _ thread: ThreadPointer) -> Bool {
    guard let memory = takeMemory(MemoryLayout<TokenHook>.stride) else { return false }
    let entry = memory.bindMemory(to: TokenHook.self, capacity: 1)
    entry.initialize(to: TokenHook(registration: Registration(.hook, nil), hook: hook))
    let registration = UnsafeMutableRawPointer(entry).assumingMemoryBound(to: Registration.self)
    let isEntered = source.pointee.lock.withLock {
        // Without a source nobody can cancel any more. The last one empties the list under this lock.
        return source.pointee.rejection == nil && source.isHeld && source.enter(registration)
    }
    if !isEntered {
        giveMemoryBack(entry, MemoryLayout<TokenHook>.stride)
        dismiss(hook, areCalled: source.pointee.isCancelled.isSet, thread)
    }
    return true
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == SourceRecord {
    /// Relaxed, like the next: the caller has a reference already.
    func retainSource() { _ = pointee.counts.addRelaxed(1) }

    func retainToken() { _ = pointee.counts.addRelaxed(oneToken) }

    @inline(never)
    func releaseSource(_ thread: ThreadPointer) {
        if pointee.counts.subtractAcquireRelease(1) & sources != 1 { return }
        unlinkParents(thread)
        dismissHooks(thread)
        releaseToken(thread)
    }

    @inline(never)
    func releaseToken(_ thread: ThreadPointer) {
        if !giveTokenBack() { return }
        // A source keeps those that it is linked to: a loop, not a recursion.
        pointee.nextInLine = nil
        var dead: SourcePointer? = self
        while let source = dead {
            dead = source.pointee.nextInLine
            for index in 0..<source.pointee.linkCount {
                guard let parent = source.pointee.links?[index].registration.source,
                    parent.giveTokenBack()
                else { continue }
                parent.pointee.nextInLine = dead
                dead = parent
            }
            source.free(thread)
        }
    }

    /// True for the last one.
    private func giveTokenBack() -> Bool {
        pointee.counts.subtractAcquireRelease(oneToken) == oneToken
    }

    private func free(_ thread: ThreadPointer) {
        pointee.rejection?.release(thread)
        pointee.reason.release(thread)
        if let links = pointee.links {
            giveMemoryBack(links, pointee.linkCount * MemoryLayout<SourceLink>.stride)
        }
        #if VOW_CHECKED
            pointee.seal = Seal.freed
        #endif
        giveMemoryBack(self, MemoryLayout<SourceRecord>.stride)
    }

    /// Whether somebody has a source. Under the lock; when nobody has, what is cancelled already stays so.
    var isHeld: Bool { pointee.counts.loadAcquire() & sources != 0 }

    #if VOW_CHECKED
        /// What is counted of tokens is the sources' own.
        var isHeldBySourcesOnly: Bool {
            let counts = pointee.counts.loadAcquire()
            return counts & sources != 0 && counts >> 32 == 1
        }
    #endif

    private func unlinkParents(_ thread: ThreadPointer) {
        guard let links = pointee.links else { return }
        for index in 0..<pointee.linkCount {
            (links + index).pointee.registration.source?.leave((links + index).registration)
        }
    }

    /// What was to be called can never be called any more. Reactions stay: they leave when they are through.
    private func dismissHooks(_ thread: ThreadPointer) {
        var taken: RegistrationPointer?
        pointee.lock.withLock {
            // By a parent: who does that calls them.
            if pointee.rejection != nil { return }
            // From the newest, so that the oldest comes first in the end.
            var entry = pointee.last
            while let current = entry {
                entry = current.pointee.previous
                if current.pointee.kind != .hook { continue }
                remove(current)
                current.pointee.next = taken
                taken = current
            }
        }
        asOneStep(thread) {
            while let current = taken {
                taken = current.pointee.next
                let entry = UnsafeMutableRawPointer(current).assumingMemoryBound(
                    to: TokenHook.self)
                dismissTokenHook(entry, isCalled: false, thread)
            }
        }
    }
}
