// Running a reaction: claim it, call its handler, resolve it with what the handler returned.

import CVow

/// Runs every inline reaction that waits on this thread. Also nested, from a wait inside a handler.
func runReady(_ thread: ThreadPointer) {
    while let member = thread.pointee.ready.popFirst() {
        run(member, thread)
    }
}

/// Runs a reaction that its executor has begun, with the reference that the queue had.
/// - Parameter looksForWorkNext: the caller is a worker of the pool.
func run(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    if reaction.pointee.shape.contains(.subscription) {
        subscribe(reaction, thread)
        return
    }
    guard reaction.pointee.state.transitionToClaimed(from: .open) else {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    let promise = reaction.upstream
    let input = promise?.value ?? vow_none()
    guard let handler = reaction.handler(rejected: input.isError) else {
        fatal("a reaction without a handler was given to an executor")
    }
    let link = reaction.link.pointee
    let result = withFrame(of: reaction, on: link.executor, thread) {
        #if VOW_CHECKED
            let loan = Loan(input, thread)
            let result = handler(loan.value, link.context)
            loan.end(returning: result, thread)
        #else
            let result = handler(input, link.context)
        #endif
        destroyContext(of: reaction, link.context)
        return result
    }
    thread.pointee.isAboutToLookForWork = looksForWorkNext
    asOneStep(thread) {
        if let promise { finishDelivery(of: reaction, promise, thread) }
        complete(reaction, result, promise, thread)
    }
    thread.pointee.isAboutToLookForWork = false
    link.executor?.release(thread)
}

/// Calls foreign code as the handler of a reaction.
@inline(__always)
func withFrame<Result>(
    of reaction: RecordPointer, on executor: ExecutorPointer?, _ thread: ThreadPointer,
    _ body: () -> Result
) -> Result {
    var frame = Frame(reaction: reaction, executor: executor, outer: thread.pointee.frame)
    // Work that is given here runs here, though a `submit` may be further down the stack.
    let isSubmitting = thread.pointee.isSubmitting
    thread.pointee.isSubmitting = false
    defer {
        thread.pointee.frame = frame.outer
        thread.pointee.isSubmitting = isSubmitting
    }
    return withUnsafeMutablePointer(to: &frame) { frame in
        thread.pointee.frame = frame
        return runForeign(thread, body)
    }
}

/// Settles a reaction whose promise has an outcome that it does not handle. A context is destroyed when
/// the hand-over is over: call `finishHandingOver` then.
func passThrough(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.shape.contains(.extras) {
        thread.pointee.skipped.append(reaction)
    } else {
        skip(reaction, thread)
    }
}

/// Why an executor cannot run a reaction.
enum Refusal {
    /// In a forked child.
    case forked
    /// It is an event loop that was destroyed.
    case shutDown
}

/// Rejects a reaction that its executor cannot run. Else as `passThrough`.
func refuse(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    reaction.progress.insert(reason == .forked ? .isRefused : [.isRefused, .isShutOut])
    passThrough(reaction, thread)
}

/// Also nested, from a wait inside a context's destructor.
func finishSkipped(_ thread: ThreadPointer) {
    let outer = thread.pointee.isSkipping
    thread.pointee.isSkipping = true
    while let reaction = thread.pointee.skipped.popFirst() { skip(reaction, thread) }
    thread.pointee.isSkipping = outer
}

/// Settles a reaction without its handler.
private func skip(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard reaction.pointee.state.transitionToClaimed(from: .open) else {
        fatal("a reaction was skipped after it had begun")
    }
    let promise = reaction.upstream
    let link = reaction.link.pointee
    let isRefused = reaction.progress.contains(.isRefused)
    let refusal =
        reaction.progress.contains(.isShutOut) ? ownErrors.shutDown : ownErrors.forked
    guard let value = isRefused ? refusal : promise?.value.retained() else {
        fatal("a reaction that reads no promise was passed through")
    }
    if reaction.pointee.shape.contains(.extras) {
        // Its own promise may be waited for in there, which must be seen.
        withFrame(of: reaction, on: thread.pointee.frame?.pointee.executor, thread) {
            destroyContext(of: reaction, link.context)
        }
    }
    count(thread.cell.pointee.counters.handlersDone)
    settle(reaction, value, ownsProducer: true, thread)
    promise?.release(thread)
    link.executor?.release(thread)
}

/// The handler has returned `result` (consumed): what becomes of the reaction.
@inline(__always)
private func complete(
    _ reaction: RecordPointer, _ result: vow_value, _ promise: RecordPointer?,
    _ thread: ThreadPointer
) {
    count(thread.cell.pointee.counters.handlersDone)
    guard reaction.pointee.shape.contains(.finally), let promise else {
        resolve(reaction, result, ownsProducer: true, thread)
        promise?.release(thread)
        return
    }
    if result.isError {
        settle(reaction, result, ownsProducer: true, thread)
        promise.release(thread)
    } else if result.promise != nil || result.isThenable {
        let waitedFor = makePromise(of: result, thread)
        reaction.link.pointee.outcome = promise
        reaction.progress.insert(.outcomeIsHeld)
        follow(waitedFor, by: reaction, ownsProducer: true, thread)
    } else {
        settle(reaction, promise.value.retained(), ownsProducer: true, thread)
        result.release(thread)
        promise.release(thread)
    }
}

private func destroyContext(of reaction: RecordPointer, _ context: UnsafeMutableRawPointer?) {
    if reaction.pointee.shape.contains(.extras) { reaction.extras.pointee.destroy?(context) }
}
