// Settling: publish the value, take the queue, hand its members over in order. A loop, not a recursion:
// promises that settle along the way add their members to the thread's lists.

import CVow

/// Settles a claimed promise with a value (consumed). With `ownsProducer` the caller's producer
/// reference is consumed too; without, the promise must live until its value is published, and no longer.
@inline(never)
func settle(
    _ promise: RecordPointer, _ value: vow_value, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if promise.pointee.shape.isTravelling { leaveToken(promise, thread) }
    writeOutcome(value, of: promise, thread)
    var ownsProducer = ownsProducer
    let newest = promise.pointee.state.transitionToSettling {
        // Somebody who waits may give the resolver back, whoever still uses it, as soon as it is woken.
        if !ownsProducer { promise.retainProducer() }
        ownsProducer = true
    }
    afterSettling(promise, newest, ownsProducer: ownsProducer, thread)
}

/// The same for a promise that is still open, or whose handler runs. False, and nothing is consumed, when
/// somebody else has decided about it.
@inline(never)
func settle(
    _ promise: RecordPointer, whileIn phase: Phase, _ value: vow_value, ownsProducer: Bool,
    _ thread: ThreadPointer
) -> Bool {
    guard let word = promise.pointee.state.lock(whileIn: phase) else { return false }
    if phase == .open && !promise.pointee.shape.isReaction, let hooks = promise.hooks {
        settleLocked(promise, word, hooks, value, ownsProducer: ownsProducer, thread)
    } else {
        settleLocked(promise, word, value, ownsProducer: ownsProducer, thread)
    }
    return true
}

/// One with hooks, which it keeps until they know that they have been taken.
@inline(never)
private func settleLocked(
    _ promise: RecordPointer, _ word: StateWord, _ hooks: HookPointer, _ value: vow_value,
    ownsProducer: Bool, _ thread: ThreadPointer
) {
    promise.retainProducer()
    settleLocked(promise, word, value, ownsProducer: ownsProducer, thread)
    dismissTaken(hooks, of: promise, thread)
}

/// The same for a promise that the caller has locked, open or running. Its hooks are the caller's to dismiss.
@inline(__always)
func settleLocked(
    _ promise: RecordPointer, _ word: StateWord, _ value: vow_value, ownsProducer: Bool,
    _ thread: ThreadPointer
) {
    writeOutcome(value, of: promise, thread)
    if word.head != nil {
        publishToMembers(promise, word, ownsProducer: ownsProducer, thread)
        return
    }
    let isTravelling = promise.pointee.shape.isTravelling
    _ = promise.pointee.state.unlockSettling(word)
    if isTravelling { leaveToken(promise, thread) }
    if ownsProducer { promise.releaseProducer(thread) }
}

/// The promise is locked and has its value: the step to settling, with what follows for its members.
@inline(never)
private func publishToMembers(
    _ promise: RecordPointer, _ word: StateWord, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if let only = word.head, only.isClearlyLast,
        publish(promise, to: only, ownsProducer: ownsProducer, thread)
    {
        return
    }
    let isTravelling = promise.pointee.shape.isTravelling
    if !ownsProducer { promise.retainProducer() }
    let newest = promise.pointee.state.unlockSettling(word)
    if isTravelling { leaveToken(promise, thread) }
    afterSettling(promise, newest, ownsProducer: true, thread)
}

@inline(__always)
private func afterSettling(
    _ promise: RecordPointer, _ newest: RecordPointer?, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if let newest {
        asOneStep(thread) { enqueueBatch(of: promise, newest, thread) }
    } else if ownsProducer {
        promise.releaseProducer(thread)
    }
}
