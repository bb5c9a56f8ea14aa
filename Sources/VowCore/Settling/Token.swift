// Tokens: one switch for many reactions. The source keeps a list of what is registered, linked through the
// registrations themselves, so entering and leaving take constant time and no memory.
//
// A registration is in the list from when its owner enters until the owner is through, or the source has cancelled. An
// owner keeps the source's memory; the list keeps no owner, so an owner that is taken out to be cancelled is retained under
// the source's lock, which that owner needs to leave.
//
// A source ends in three steps, each taken once. When no call could cancel it any more (its handles are gone, and its
// parents are cancelled never), what was to be called is destroyed. When its last token is gone, of which its handles have
// one, the source leaves its parents. When the last hook's handle is gone too, its memory goes.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a travelling reaction.
    fileprivate var registration: RegistrationPointer {
        UnsafeMutableRawPointer(travel).assumingMemoryBound(to: Registration.self)
    }

    /// Of any record: the source of the token that it was made with.
    var token: SourcePointer? {
        pointee.shape.isTravelling ? travel.pointee.registration.source : nil
    }
}

/// A new reaction enters its token, or is cancelled at once.
func enterToken(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let source = reaction.travel.pointee.registration.source else { return }
    let rejection = source.pointee.lock.withLock {
        if let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(reaction.registration)
        return nil
    }
    guard let rejection else { return }
    cancelAlone(reaction, rejection.value, thread)
}

/// What a reaction that is made with a token reads instead of its promise (owned), once that is cancelled.
func rejectionFor(_ source: SourcePointer) -> RecordPointer? {
    if !source.pointee.isCancelled.isSet { return nil }
    let rejection = source.pointee.lock.withLock { source.pointee.rejection }
    rejection?.retain()
    return rejection
}

/// A reaction is through.
@inline(never)
func leaveToken(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    reaction.travel.pointee.registration.source?.leave(reaction.registration)
}

/// Cancels a source (borrowed) with a reason (consumed), and those that are linked to it. False: it was before.
@inline(never)
func cancelSource(_ source: SourcePointer, _ reason: vow_value, _ thread: ThreadPointer) -> Bool {
    var isFirst = false
    asOneStep(thread) {
        isFirst = cancelSources(from: source, reason, thread)
        reason.release(thread)
    }
    return isFirst
}

private func cancelSources(
    from source: SourcePointer, _ reason: vow_value, _ thread: ThreadPointer
) -> Bool {
    if !markCancelled(source, reason, thread) { return false }
    source.retainToken()
    var next: SourcePointer? = source
    while let current = next {
        var last = current
        while let entry = takeEntry(of: current) {
            if let child = cancelEntry(entry, of: current, thread) {
                if markCancelled(child, reason, thread) {
                    child.pointee.nextInLine = last.pointee.nextInLine
                    last.pointee.nextInLine = child
                    last = child
                } else {
                    child.releaseToken(thread)
                }
            }
        }
        next = current.pointee.nextInLine
        current.pointee.nextInLine = nil
        current.releaseToken(thread)
    }
    return true
}

/// Makes what cancelled reactions read. False when the source is cancelled already.
private func markCancelled(
    _ source: SourcePointer, _ reason: vow_value, _ thread: ThreadPointer
) -> Bool {
    if source.pointee.isCancelled.isSet { return false }
    let rejection = makeRejection(reason, thread)
    let isFirst = source.pointee.lock.withLock {
        if source.pointee.rejection != nil { return false }
        source.pointee.rejection = rejection
        source.pointee.reason = reason.retained()
        source.pointee.isCancelled.set()
        return true
    }
    if !isFirst { rejection.release(thread) }
    return isFirst
}

private func makeRejection(_ reason: vow_value, _ thread: ThreadPointer) -> RecordPointer {
    let error = cancellation(reason)
    defer { error.release(thread) }
    return makeRejected(error, thread)
}

/// An error VOW_ECANCELLED (owned) with a reason (borrowed) as its payload.
func cancellation(_ reason: vow_value) -> vow_value {
    if reason.kind == VOW_NONE { return ownErrors.cancelled }
    let message: StaticString = "cancelled"
    return message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            let error = makeOwnError(VOW_ECANCELLED, $0.baseAddress, payload: reason)
            if error != nil { reason.retained() }
            return error ?? ownErrors.cancelled
        }
    }
}

/// What is registered, out of the list, and retained where it has an owner.
private enum Entry {
    case promise(RecordPointer)
    case source(SourcePointer)
    case hook(HookPointer)
}

/// The next one to be cancelled. Linked sources that are about to end are left out.
private func takeEntry(of source: SourcePointer) -> Entry? {
    source.pointee.lock.withLock {
        var isBroken = false
        while let entry = source.pointee.first {
            if !source.remove(entry) {
                // In a forked child: another thread of the parent was about to take it out. If there are more, this process
                // has pages of different moments, and the rest of the list is no list.
                source.pointee.first = isBroken ? nil : entry.pointee.next
                isBroken = true
                continue
            }
            switch entry.pointee.kind {
            case .reaction:
                entry.reaction.retainProducer()
                return .promise(entry.reaction)
            case .produced:
                let promise = entry.enrolment.pointee.promise
                promise.retainProducer()
                return .promise(promise)
            case .link:
                let child = entry.link.pointee.child
                if child.retainTokenUnlessEnding() { return .source(child) }
            case .hook:
                return HookPointer(listed: entry).map { .hook($0) }
            }
        }
        return nil
    }
}

extension RegistrationPointer {
    fileprivate var reaction: RecordPointer {
        let offset =
            MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size + MemoryLayout<LinkExtras>.size
        return (UnsafeMutableRawPointer(self) - offset).assumingMemoryBound(to: Record.self)
    }

    fileprivate var enrolment: UnsafeMutablePointer<Enrolment> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Enrolment.self)
    }

    var link: UnsafeMutablePointer<SourceLink> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: SourceLink.self)
    }
}

/// Returns a linked source (retained) that is to be cancelled as well.
private func cancelEntry(
    _ entry: Entry, of source: SourcePointer, _ thread: ThreadPointer
) -> SourcePointer? {
    switch entry {
    case .promise(let promise):
        if let rejection = source.pointee.rejection {
            cancelAlone(promise, rejection.value, thread)
        }
        promise.releaseProducer(thread)
        return nil
    case .source(let child):
        return child
    case .hook(let hook):
        hook.next = nil
        dismiss(hook, .called, thread)
        return nil
    }
}

/// A promise of the library's own making is to be cancelled with a token (borrowed), or is at once. Nil without memory.
func enrol(
    _ promise: RecordPointer, in source: SourcePointer, _ thread: ThreadPointer
) -> UnsafeMutablePointer<Enrolment>? {
    guard let memory = takeMemory(MemoryLayout<Enrolment>.stride) else { return nil }
    let enrolment = memory.bindMemory(to: Enrolment.self, capacity: 1)
    source.retainToken()
    enrolment.initialize(
        to: Enrolment(registration: Registration(.produced, source), promise: promise))
    let registration = memory.assumingMemoryBound(to: Registration.self)
    let rejection = source.pointee.lock.withLock {
        if let rejection = source.pointee.rejection { return RecordPointer?(rejection) }
        source.enter(registration)
        return nil
    }
    if let rejection { cancelAlone(promise, rejection.value, thread) }
    return enrolment
}

/// It has ended.
func leave(_ enrolment: UnsafeMutablePointer<Enrolment>, _ thread: ThreadPointer) {
    let registration = UnsafeMutableRawPointer(enrolment).assumingMemoryBound(
        to: Registration.self)
    if let source = enrolment.pointee.registration.source {
        source.leave(registration)
        source.releaseToken(thread)
    }
    giveMemoryBack(enrolment, MemoryLayout<Enrolment>.stride)
}

// MARK: Making cancel sources, and how they end
//
// A maker returns nil when there is no memory.

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
