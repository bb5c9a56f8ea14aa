// Giving a promise up whose end is wanted all the same.

import CVow

/// A promise (consumed) goes on as if somebody read it; one reader is enough for that. Of a reaction that is so anyway.
func detach(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let goesOn =
        promise.pointee.shape.isReaction || promise.pointee.state.read().hasValue
        || promise.pointee.isObserved.isStanding(.silent)
    if goesOn {
        promise.release(thread)
        return
    }
    let reader = Reaction(
        shape: [.link], handler: nil, context: nil, executor: ownExecutors.inline,
        seesRejections: false)
    promise.visit()
    defer { promise.endVisit(thread) }
    let derived = react(to: promise, reader, thread)
    if derived == promiseWithoutMemory { return }
    _ = promise.pointee.isObserved.beginStanding(.silent)
    // The promise itself is to report, by its own name; that the reader goes is not to be told.
    derived.pointee.flags.insert(RecordFlag.passed)
    derived.pointee.isObserved.set()
    derived.release(thread)
}
