// Running inline reactions: those on the thread's list, and one that nobody knows of yet.

import CVow

/// A reaction that is begun by running it. Who cancels it meanwhile finds it open.
func runInline(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.state.read().phase != .open {
        runInlineCancelled(reaction, thread)
        return
    }
    let promise = reaction.source
    let input = promise?.value ?? vow_none()
    guard let handler = reaction.handler(rejected: input.isError) else {
        fatal("a reaction without a handler was run")
    }
    let result = call(
        handler, of: reaction, with: input, from: promise, on: ownExecutors.inline, thread)
    let delivery = reaction.takeDelivery()
    if result.kind < VOW_STRING && !reaction.pointee.shape.contains(.finally)
        && settleQuietly(reaction, result, thread)
    {
        count(thread.cell.pointee.counters.handlersDone)
        if let promise { endReadingQuietly(promise, delivery, thread) }
        return
    }
    completeInline(reaction, result, reading: promise, delivery, thread)
}

/// In a step, because of what may be foreign code.
@inline(never)
private func completeInline(
    _ reaction: RecordPointer, _ result: vow_value, reading promise: RecordPointer?,
    _ delivery: Passage, _ thread: ThreadPointer
) {
    let mayBeQuiet = result.isOwnContent && !reaction.pointee.shape.contains(.finally)
    asOneStep(thread) {
        if mayBeQuiet && settleQuietly(reaction, result, thread) {
            count(thread.cell.pointee.counters.handlersDone)
        } else {
            complete(
                reaction, begunAs: .open, result, Reading(promise: promise, cancellation: nil),
                thread)
        }
        // Afterwards, because until then the way from the reaction led there.
        if let promise { endReading(promise, delivery, thread) }
    }
}

/// A reaction that only this thread knows of reads a settled promise (consumed), as the last act of the call that
/// made it.
@inline(__always)
func runPrivately(
    _ reaction: RecordPointer, reading promise: RecordPointer, _ thread: ThreadPointer
) {
    let input = promise.value
    guard let handler = reaction.handler(rejected: input.isError) else {
        fatal("a reaction without a handler was run")
    }
    let result = call(
        handler, of: reaction, with: input, from: promise, on: ownExecutors.inline, thread)
    count(thread.cell.pointee.counters.handlersDone)
    if result.kind < VOW_STRING {
        settlePrivately(reaction, result, thread)
        promise.giveBack(1, thread)
        return
    }
    asOneStep(thread) {
        _ = resolve(reaction, whileIn: .open, result, ownsProducer: true, thread)
        promise.giveBack(1, thread)
    }
}
