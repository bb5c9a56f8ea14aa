// Resolving: the kind of the value decides what becomes of a promise.

import CVow

/// Resolves an open or running promise with a value (consumed). False, and nothing is consumed, when
/// somebody else has decided about it. For `ownsProducer` see `settle`.
@inline(__always)
func resolve(
    _ promise: RecordPointer, whileIn phase: Phase, _ value: vow_value, ownsProducer: Bool,
    _ thread: ThreadPointer
) -> Bool {
    if isWatched { noteResolved(promise, value) }
    if value.kind == VOW_PROMISE || value.kind == VOW_OBJECT {
        let isThenable = value.isThenable
        if isThenable || value.promise != nil {
            guard promise.pointee.state.transitionToClaimed(from: phase) else { return false }
            if !promise.pointee.shape.isReaction, let hooks = promise.hooks {
                follow(value, by: promise, hooks, ownsProducer: ownsProducer, thread)
            } else if let followed = value.promise {
                follow(followed, by: promise, ownsProducer: ownsProducer, thread)
            } else {
                followThenable(value, by: promise, ownsProducer: ownsProducer, thread)
            }
            return true
        }
    }
    return settle(promise, whileIn: phase, value, ownsProducer: ownsProducer, thread)
}

/// One with hooks, which it keeps until they know that they have been taken.
@inline(never)
private func follow(
    _ value: vow_value, by promise: RecordPointer, _ hooks: HookPointer, ownsProducer: Bool,
    _ thread: ThreadPointer
) {
    promise.retainProducer()
    if let followed = value.promise {
        follow(followed, by: promise, ownsProducer: ownsProducer, thread)
    } else {
        followThenable(value, by: promise, ownsProducer: ownsProducer, thread)
    }
    dismissTaken(hooks, of: promise, thread)
}

/// A promise (owned) of a value (consumed).
func makePromise(of value: vow_value, _ thread: ThreadPointer) -> RecordPointer {
    if let promise = value.promise {
        promise.noteHandle()
        return promise
    }
    let isThenable = value.isThenable
    let phase: Phase = isThenable ? .claimed : .settled
    let producers: UInt64 = isThenable ? 1 : 0
    guard let promise = makePromise(phase, producers: producers, thread) else {
        value.release(thread)
        return promiseWithoutMemory
    }
    if isThenable {
        followThenable(value, by: promise, ownsProducer: true, thread)
    } else {
        writeOutcome(value, of: promise, thread)
    }
    return promise
}

/// What `vow_reject` makes of a value (consumed): an error as it is, another value as a payload.
func errorForRejection(_ value: vow_value, _ thread: ThreadPointer) -> vow_value {
    if value.isError { return value }
    var message: (CChar, CChar, CChar, CChar, CChar, CChar, CChar) = (
        0x72, 0x65, 0x61, 0x73, 0x6f, 0x6e, 0
    )
    let error = withUnsafePointer(to: &message) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 7) {
            makeOwnError(VOW_EREASON, $0, payload: value)
        }
    }
    guard let error else {
        value.release(thread)
        return ownErrors.noMemory
    }
    return error
}
