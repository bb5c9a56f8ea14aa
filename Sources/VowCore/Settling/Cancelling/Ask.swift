// Asking what a `vow_using` acquires to stop. That is cancelling, but drops no value: what is acquired all the same is to be
// released.
//
// A handler that runs, a cooperative producer and what calls functions hear of it as of a cancellation; a value with which
// they come is their promise's. What may pass such a value on, and what runs for a rejection, is only passed by.

import CVow

/// - Parameter promise: a visit, consumed. Nobody but the asker reads it.
func ask(_ promise: RecordPointer, _ thread: ThreadPointer) {
    asOneStep(thread) {
        var current = promise
        while let next = askOne(current, thread) {
            current.endVisit(thread)
            current = next
        }
        current.endVisit(thread)
    }
}

/// Returns what it waits for (a visit), if that is to be asked.
private func askOne(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if let limited = promise.limitedInTime { return unlessOthersRead(limited, thread) }
    let word = promise.pointee.state.lock()
    let shape = promise.pointee.shape
    var upstream: RecordPointer?
    switch word.phase {
    case .following:
        upstream = promise.upstream
    case .open where shape.isReaction && promise.mayRunCancelled:
        // A shield leaves alone what it waits for.
        upstream = shape.isShield ? nil : promise.upstream
    case .running where shape.contains(.finally):
        break
    default:
        _ = cancelOne(
            promise, word, ownErrors.cancelled, keepsValue: true, upstream: &upstream, thread)
        cancelFurther(from: upstream, ownErrors.cancelled, thread)
        return nil
    }
    upstream?.visit()
    promise.pointee.state.unlock(word.phase, word.head)
    return upstream.flatMap { unlessOthersRead($0, thread) }
}

private func unlessOthersRead(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if promise.nowCounts.readers == 1 && !promise.pointee.state.read().hasValue { return promise }
    promise.endVisit(thread)
    return nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a pending time-out: what it waits for, as a visit.
    fileprivate var limitedInTime: RecordPointer? {
        guard pointee.shape.isProduced, producer.pointee.kind == .timeout, let owner = observing,
            case .promise(let promise) = owner.pointee.view.observed(owner, 0)
        else { return nil }
        return promise
    }
}
