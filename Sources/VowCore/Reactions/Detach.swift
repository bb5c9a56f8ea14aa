// Giving a promise up whose end is wanted all the same.

import CVow

/// A promise (consumed) goes on as if somebody read it. Of a reaction that is so anyway.
func detach(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.pointee.shape.isReaction || promise.pointee.state.read().hasValue {
        promise.release(thread)
        return
    }
    let reader = Reaction(
        shape: [.link], handler: nil, context: nil, executor: ownExecutors.inline,
        seesRejections: false)
    let derived = react(to: promise, reader, thread)
    if derived == promiseWithoutMemory { return }
    // The promise itself is to report, by its own name; that the reader goes is not to be told.
    derived.pointee.flags.insert(RecordFlag.passed)
    derived.pointee.isObserved.set()
    derived.release(thread)
}
