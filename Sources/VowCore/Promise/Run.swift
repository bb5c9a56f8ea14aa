// Running a reaction: claim it, call its handler, resolve it with what the handler returned.

import CVow

/// Runs every inline reaction that waits on this thread. Also nested, from a wait inside a handler.
func runReady(_ thread: ThreadPointer) {
    while let member = thread.pointee.ready.popFirst() {
        // What stays on this thread must not wait for a handler that may block.
        releaseSuccessor(thread)
        run(member, thread)
    }
}

/// Runs a reaction that its executor has begun, with the reference that the queue had.
/// - Parameter keepsSuccessor: one reaction that becomes ready by the result may stay on this thread.
func run(_ reaction: RecordPointer, keepsSuccessor: Bool = false, _ thread: ThreadPointer) {
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
    thread.pointee.foreignDepth += 1
    var frame = Frame(
        reaction: reaction, executor: link.executor, outer: thread.pointee.frame)
    let result = withUnsafeMutablePointer(to: &frame) { frame in
        thread.pointee.frame = frame
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
    thread.pointee.frame = frame.outer
    thread.pointee.foreignDepth -= 1
    if let promise { finishDelivery(of: reaction, promise, thread) }
    thread.pointee.mayKeepSuccessor = keepsSuccessor
    complete(reaction, result, promise, thread)
    thread.pointee.mayKeepSuccessor = false
    leaveExecutor(link.executor, thread)
}

/// Settles a reaction whose promise has an outcome that it does not handle.
func passThrough(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let promise = reaction.upstream else { fatal("a reaction that reads no promise was skipped") }
    skip(reaction, with: promise.value.retained(), thread)
}

/// Settles a reaction with a value (consumed) that its handler did not make; its promise is given back.
func skip(_ reaction: RecordPointer, with value: vow_value, _ thread: ThreadPointer) {
    guard reaction.pointee.state.transitionToClaimed(from: .open) else {
        fatal("a reaction was skipped after it had begun")
    }
    let promise = reaction.upstream
    let link = reaction.link.pointee
    if reaction.pointee.shape.contains(.extras) {
        runForeign(thread) { destroyContext(of: reaction, link.context) }
    }
    count(thread.pointee.cell.counters.handlersDone)
    settle(reaction, value, ownsProducer: true, thread)
    promise?.release(thread)
    leaveExecutor(link.executor, thread)
}

/// The handler has returned `result` (consumed): what becomes of the reaction.
@inline(__always)
private func complete(
    _ reaction: RecordPointer, _ result: vow_value, _ promise: RecordPointer?, _ thread: ThreadPointer
) {
    count(thread.pointee.cell.counters.handlersDone)
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
        reaction.pointee.progress.insert(.outcomeIsHeld)
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
