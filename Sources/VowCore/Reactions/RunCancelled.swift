// Running a reaction that was cancelled before it began.

import CVow

/// Runs a reaction that was cancelled before it began, which its executor has begun, or passes on what it reads.
func runCancelled(_ reaction: RecordPointer, _ reading: Reading, _ thread: ThreadPointer) {
    let input = reading.input(of: reaction)
    guard let handler = reaction.handler(rejected: input.isError) else {
        passOn(reaction, reading, (reading.cancellation ?? input).retained(), thread)
        return
    }
    let executor = reaction.executor
    let result = call(
        handler, of: reaction, with: input, from: reading.promise, on: executor, thread)
    asOneStep(thread) {
        let delivery = reaction.takeDelivery()
        count(thread.cell.pointee.counters.handlersDone)
        claimCancelled(reaction)
        if result.isError {
            // It has read the cancellation, and says what comes of it.
            settle(reaction, result, ownsProducer: true, thread)
        } else {
            let read = reading.cancellation ?? ownErrors.cancelled
            end(reaction, result, read.isCancellation ? read.retained() : reaction.ownError, thread)
        }
        if let promise = reading.promise { endReading(promise, delivery, thread) }
        reading.cancellation?.release(thread)
    }
    releaseAfterRun(executor, thread)
}

/// It was cancelled, or is being so at this moment.
@inline(never)
func runInlineCancelled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let reading = beginCancelled(reaction) else {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    runCancelled(reaction, reading, thread)
}
