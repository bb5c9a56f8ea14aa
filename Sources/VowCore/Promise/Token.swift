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

/// Makes what cancelled reactions read. False when the source is cancelled already, or a linked one is given up.
private func markCancelled(
    _ source: SourcePointer, _ reason: vow_value, _ thread: ThreadPointer
) -> Bool {
    if source.pointee.isCancelled.isSet { return false }
    let rejection = makeRejection(reason, thread)
    let isFirst = source.pointee.lock.withLock {
        if source.pointee.rejection != nil || !source.isHeld { return false }
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
    guard let promise = makePromise(.settled, producers: 0, thread) else {
        error.release(thread)
        return promiseCancelled
    }
    if isWatched { noteSettled(promise, error) }
    promise.value = error
    count(thread.cell.pointee.counters.promisesSettled)
    return promise
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

/// The next one to be cancelled, out of the list, and retained where it has an owner.
private func takeEntry(of source: SourcePointer) -> RegistrationPointer? {
    source.pointee.lock.withLock {
        guard let entry = source.pointee.first else { return nil }
        source.remove(entry)
        switch entry.pointee.kind {
        case .reaction: entry.reaction.retainProducer()
        case .link: entry.link.pointee.child.retainToken()
        case .hook: break
        }
        return entry
    }
}

extension UnsafeMutablePointer<Registration> {
    fileprivate var reaction: RecordPointer {
        let offset =
            MemoryLayout<Record>.size + MemoryLayout<LinkPart>.size + MemoryLayout<LinkExtras>.size
        return (UnsafeMutableRawPointer(self) - offset).assumingMemoryBound(to: Record.self)
    }

    fileprivate var link: UnsafeMutablePointer<SourceLink> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: SourceLink.self)
    }

    fileprivate var hook: UnsafeMutablePointer<TokenHook> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: TokenHook.self)
    }
}

/// Returns a linked source (retained) that is to be cancelled as well.
private func cancelEntry(
    _ entry: RegistrationPointer, of source: SourcePointer, _ thread: ThreadPointer
) -> SourcePointer? {
    switch entry.pointee.kind {
    case .reaction:
        if let rejection = source.pointee.rejection {
            cancelAlone(entry.reaction, rejection.value, thread)
        }
        entry.reaction.releaseProducer(thread)
        return nil
    case .link:
        return entry.link.pointee.child
    case .hook:
        dismissTokenHook(entry.hook, isCalled: true, thread)
        return nil
    }
}

func dismissTokenHook(
    _ entry: UnsafeMutablePointer<TokenHook>, isCalled: Bool, _ thread: ThreadPointer
) {
    let hook = entry.pointee.hook
    giveMemoryBack(entry, MemoryLayout<TokenHook>.stride)
    dismiss(hook, areCalled: isCalled, thread)
}
