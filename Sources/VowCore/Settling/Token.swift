// Tokens: one switch for many reactions. The source has a list of registrations, linked through themselves, so entering and
// leaving take constant time and no memory. A registration is in the list from when its owner enters until the owner is
// through, or the source has cancelled. The owner keeps the source's memory. The list keeps no owner: an owner that is taken
// out to be cancelled is retained under the source's lock, which that owner needs to leave.
//
// *Counts.* `counts` has handles in its low half and tokens in the high one; all handles together have one token. `cancellers`
// counts all handles together, and each parent that can be cancelled itself. `keepers` counts all tokens together, and hooks
// with handles. Each comes to 0 once, and stays there. The steps of the end:
//
// * `cancellers` 0: no call can cancel any more, so the hooks are destroyed, and each linked source has one canceller less. A
//   thread that enters asks for `cancellers` under the lock, and the list is emptied under it afterwards: one sees the other.
// * Tokens 0: the source leaves its parents, each under that one's lock. A parent that cancels, or ends cancelling, may find it
//   until then and takes a token under that lock, but never of a source that has begun to end (`retainTokenUnlessEnding`).
// * `keepers` 0: the memory goes.
//
// A source that is being cancelled is in no line of sources that end: the cancelling thread has a token and a canceller (its
// handle, or the parent's). So one field, `nextInLine`, serves all.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// For a travelling reaction.
    fileprivate var registration: RegistrationPointer {
        UnsafeMutableRawPointer(travel).assumingMemoryBound(to: Registration.self)
    }

    /// The source of the token that any record was made with.
    var token: SourcePointer? {
        pointee.shape.isTravelling ? travel.pointee.registration.source : nil
    }
}

/// Enters a new reaction at its token, or cancels it at once.
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

/// The promise (owned) that a reaction with a cancelled token reads instead of its own. Nil: not cancelled.
func rejectionFor(_ source: SourcePointer) -> RecordPointer? {
    if !source.pointee.isCancelled.isSet { return nil }
    let rejection = source.pointee.lock.withLock { source.pointee.rejection }
    rejection?.retain()
    return rejection
}

@inline(never)
func leaveToken(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    reaction.travel.pointee.registration.source?.leave(reaction.registration)
}

/// Cancels a source (borrowed), and the linked sources, with a reason (consumed). Returns false if it was cancelled.
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

/// Makes the promise that cancelled reactions read. Returns false if the source is cancelled already.
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
@inline(__always)
func cancellation(_ reason: vow_value) -> vow_value {
    reason.kind == VOW_NONE ? ownErrors.cancelled : makeCancellation(reason)
}

private func makeCancellation(_ reason: vow_value) -> vow_value {
    let message: StaticString = "cancelled"
    return message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            let error = makeOwnError(VOW_ECANCELLED, $0.baseAddress, payload: reason)
            if error != nil { reason.retained() }
            return error ?? ownErrors.cancelled
        }
    }
}

/// A registration taken out of the list, its owner retained.
private enum Entry {
    case promise(RecordPointer)
    case source(SourcePointer)
    case hook(HookPointer)
}

/// Takes the next registration to cancel. Leaves out linked sources that are about to end.
private func takeEntry(of source: SourcePointer) -> Entry? {
    source.pointee.lock.withLock {
        var isBroken = false
        while let entry = source.pointee.first {
            if !source.remove(entry) {
                // In a forked child, a thread of the parent was taking it out. If there are more, this process has pages of
                // different moments, and the rest is no list.
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

/// Returns a linked source (retained) that is to be cancelled too.
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

/// Enters a produced promise at a token (borrowed), or cancels it at once. Nil without memory.
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

/// Enters the link at its parent, or takes over the parent's cancellation.
private func linkUp(_ link: UnsafeMutablePointer<SourceLink>, _ thread: ThreadPointer) {
    guard let parent = link.pointee.registration.source else { return }
    let reason = parent.pointee.lock.withLock {
        if parent.pointee.rejection != nil { return vow_value?(parent.pointee.reason.retained()) }
        // Otherwise no call can cancel any more, and the last canceller empties the list under this lock.
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
    /// Relaxed, as the next two: the caller has a reference.
    func retainSource() { _ = pointee.counts.addRelaxed(1) }

    func retainToken() { _ = pointee.counts.addRelaxed(oneToken) }

    func keepMemory() { _ = pointee.keepers.addRelaxed(1) }

    /// The caller found this linked source in its parent's list, under the lock that it needs to end. False: it is ending.
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
        // A source keeps its parents: a loop, not a recursion.
        pointee.nextInLine = nil
        var dead: SourcePointer? = self
        while let source = dead {
            dead = source.pointee.nextInLine
            source.leaveParents(&dead)
            // No token or linked source is left, so the list has only hooks.
            if let hooks = source.takeThoseThatWait() { source.dismissAll(hooks, thread) }
            source.giveMemoryUp(thread)
        }
    }

    /// Leaves the parents with the last token. Parents without tokens are added to the dead.
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

    /// Returns true for the last token.
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
        /// The program has a handle of the source.
        var isHeld: Bool { pointee.counts.loadAcquire() & sources != 0 }

        /// The only token is the one of all handles.
        var isHeldBySourcesOnly: Bool {
            let counts = pointee.counts.loadAcquire()
            return counts & sources != 0 && counts >> 32 == 1
        }
    #endif

    // MARK: The last canceller

    /// Asked under the lock: at 0, a cancelled source stays cancelled, and any other one is never cancelled.
    var canBeCancelled: Bool { pointee.cancellers.loadAcquire() != 0 }

    /// Returns true for the last canceller.
    private func giveCancellerBack() -> Bool {
        pointee.cancellers.subtractAcquireRelease(1) == 1
    }

    /// Destroys the hooks, and takes a canceller from each linked source. Reactions stay. The caller has a token.
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

    /// Takes hooks, and linked sources that have not begun to end (each with a token), out of the list, oldest first.
    private func takeThoseThatWait() -> RegistrationPointer? {
        pointee.lock.withLock {
            // The cancelling thread takes them.
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
