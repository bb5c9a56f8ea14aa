// Making cancel sources, and how they end. Nil when there is no memory.
//
// A source ends in three steps, each taken once. When nobody could cancel it any more (its handles are gone, and its
// parents are cancelled never), what was to be called is destroyed. When its last token is gone, which its handles have
// one of, it leaves its parents. When the last hook's handle is gone too, its memory goes.

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
        // Else whoever was the last one who could cancel it empties the list under this lock.
        if parent.canBeCancelled {
            _ = link.pointee.child.pointee.cancellers.addRelaxed(1)
            parent.enter(link.registration)
        }
        return nil
    }
    if let reason { _ = cancelSource(link.pointee.child, reason, thread) }
}

extension UnsafeMutablePointer<SourceLink> {
    fileprivate var registration: RegistrationPointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Registration.self)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == SourceRecord {
    /// Relaxed, like the next two: the caller has a reference already.
    func retainSource() { _ = pointee.counts.addRelaxed(1) }

    func retainToken() { _ = pointee.counts.addRelaxed(oneToken) }

    func keepMemory() { _ = pointee.keepers.addRelaxed(1) }

    /// Of a linked source that the caller has found in a parent's list, under that one's lock, which the source needs to
    /// end. False: it is about to.
    func retainTokenUnlessEnding() -> Bool {
        var counts = pointee.counts.loadRelaxed()
        while counts >= oneToken {
            let (isDone, found) = pointee.counts.replaceAcquireRelease(counts, counts &+ oneToken)
            if isDone { return true }
            counts = found
        }
        return false
    }

    @inline(never)
    func releaseSource(_ thread: ThreadPointer) {
        if pointee.counts.subtractAcquireRelease(1) & sources != 1 { return }
        if giveCancellerBack() { endCancelling(thread) }
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
            source.leaveParents(&dead)
            // Nobody has a token, or is linked to it: there is nothing else in its list.
            if let hooks = source.takeThoseThatWait() { source.dismissAll(hooks, thread) }
            source.giveMemoryUp(thread)
        }
    }

    /// With the last token; those of whom it had the last one are added to the dead.
    private func leaveParents(_ dead: inout SourcePointer?) {
        guard let links = pointee.links else { return }
        for index in 0..<pointee.linkCount {
            let link = (links + index).registration
            guard let parent = link.pointee.source else { continue }
            _ = parent.pointee.lock.withLock { parent.remove(link) }
            if !parent.giveTokenBack() { continue }
            parent.pointee.nextInLine = dead
            dead = parent
        }
    }

    /// True for the last one.
    private func giveTokenBack() -> Bool {
        pointee.counts.subtractAcquireRelease(oneToken) & ~sources == oneToken
    }

    func giveMemoryUp(_ thread: ThreadPointer) {
        if pointee.keepers.subtractAcquireRelease(1) != 1 { return }
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

    #if VOW_CHECKED
        /// Whether somebody has a source.
        var isHeld: Bool { pointee.counts.loadAcquire() & sources != 0 }

        /// What is counted of tokens is the sources' own.
        var isHeldBySourcesOnly: Bool {
            let counts = pointee.counts.loadAcquire()
            return counts & sources != 0 && counts >> 32 == 1
        }
    #endif

    // MARK: Nobody could cancel it any more

    /// Somebody could cancel it. Under the lock; when nobody could, what is cancelled already stays so.
    var canBeCancelled: Bool { pointee.cancellers.loadAcquire() != 0 }

    /// True for the last one.
    private func giveCancellerBack() -> Bool {
        pointee.cancellers.subtractAcquireRelease(1) == 1
    }

    /// What was to be called can never be called any more, and those that are linked to it have one less who could
    /// cancel them. Reactions stay: they leave when they are through. The caller has a token.
    ///
    /// Nobody else uses `nextInLine` of those in this line: a source that is being cancelled keeps who cancels it.
    private func endCancelling(_ thread: ThreadPointer) {
        asOneStep(thread) {
            retainToken()
            pointee.nextInLine = nil
            var next: SourcePointer? = self
            while let source = next {
                next = source.pointee.nextInLine
                var taken = source.takeThoseThatWait()
                while let entry = taken {
                    taken = entry.pointee.next
                    if entry.pointee.kind == .hook {
                        dismissAlone(entry, thread)
                        continue
                    }
                    let child = entry.link.pointee.child
                    if child.giveCancellerBack() {
                        child.pointee.nextInLine = next
                        next = child
                    } else {
                        child.releaseToken(thread)
                    }
                }
                source.releaseToken(thread)
            }
        }
    }

    /// Hooks, and linked sources that are not about to end (each with a token), out of the list, oldest first.
    private func takeThoseThatWait() -> RegistrationPointer? {
        pointee.lock.withLock {
            // Who cancels it takes them.
            if pointee.rejection != nil { return nil }
            var taken: RegistrationPointer?
            // From the newest, so that the oldest comes first in the end.
            var entry = pointee.last
            while let current = entry {
                entry = current.pointee.previous
                switch current.pointee.kind {
                case .reaction, .produced: continue
                case .hook: remove(current)
                case .link:
                    remove(current)
                    if !current.link.pointee.child.retainTokenUnlessEnding() { continue }
                }
                current.pointee.next = taken
                taken = current
            }
            return taken
        }
    }

    private func dismissAll(_ hooks: RegistrationPointer, _ thread: ThreadPointer) {
        asOneStep(thread) {
            var taken: RegistrationPointer? = hooks
            while let current = taken {
                taken = current.pointee.next
                dismissAlone(current, thread)
            }
        }
    }

    private func dismissAlone(_ entry: RegistrationPointer, _ thread: ThreadPointer) {
        guard let hook = HookPointer(listed: entry) else { return }
        hook.next = nil
        dismiss(hook, .destroyed, thread)
    }
}
