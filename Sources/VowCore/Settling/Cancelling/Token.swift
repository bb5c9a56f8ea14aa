// Tokens: one switch for many reactions. The source keeps a list of what is registered, linked through the
// registrations themselves, so entering and leaving take constant time and no memory.
//
// A registration is in the list from when its owner enters until it is through, or the source has cancelled. An
// owner keeps the source's memory; the list keeps nobody, so whoever is taken out to be cancelled is retained under
// the source's lock, which its owner needs to leave.

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
