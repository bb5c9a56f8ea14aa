// Running a reaction: claim it, call its handler, resolve it with what the handler returned.

import CVow

/// Runs a reaction that its executor has begun, with the reference that the queue had.
/// - Parameter looksForWorkNext: the caller is a worker of the pool.
@inline(never)
func run(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    if reaction.pointee.shape.contains(.subscription) {
        subscribe(reaction, thread)
        return
    }
    if reaction.isBegunByRunning {
        runInline(reaction, thread)
        return
    }
    if reaction.passage.contains(.passes) {
        passAtExecutor(reaction, thread)
        return
    }
    guard let reading = begin(reaction) else {
        dropWithdrawn(reaction, thread)
        return
    }
    if reading.cancellation != nil {
        runCancelled(reaction, reading, thread)
        return
    }
    let input = reading.promise?.value ?? vow_none()
    let executor = reaction.executor
    guard let handler = reaction.handler(rejected: input.isError) else {
        fatal("a reaction without a handler was given to an executor")
    }
    let result = call(
        handler, of: reaction, with: input, from: reading.promise, on: executor, thread)
    thread.pointee.isAboutToLookForWork = looksForWorkNext
    asOneStep(thread) {
        let delivery = reaction.takeDelivery()
        complete(reaction, begunAs: .running, result, reading, thread)
        if let promise = reading.promise { endReading(promise, delivery, thread) }
    }
    thread.pointee.isAboutToLookForWork = false
    releaseAfterRun(executor, thread)
}

/// Settles a reaction whose executor was to destroy its context. If it was cancelled since, its handler may have to run: it does
/// so here, in its turn.
@inline(never)
private func passAtExecutor(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.flags.contains(RecordFlag.follows) {
        endFollowing(reaction, thread)
        return
    }
    guard let reading = begin(reaction) else {
        dropWithdrawn(reaction, thread)
        return
    }
    if reading.cancellation != nil {
        reaction.passage.remove(.passes)
        runCancelled(reaction, reading, thread)
    } else {
        passOn(reaction, reading, reading.input(of: reaction).retained(), thread)
    }
}

@inline(__always)
func call(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    if isWatched {
        return callWatched(handler, of: reaction, with: input, from: promise, on: executor, thread)
    }
    return callUnwatched(handler, of: reaction, with: input, from: promise, on: executor, thread)
}

@inline(never)
private func callWatched(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    let run = noteRuns(reaction, reading: promise, on: executor)
    defer { noteRan(reaction, run) }
    return callUnwatched(handler, of: reaction, with: input, from: promise, on: executor, thread)
}

@inline(__always)
private func callUnwatched(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    let context = reaction.link.pointee.context
    return withContext(of: reaction, thread) {
        withFrame(of: reaction, promise, on: executor, thread) {
            #if VOW_CHECKED
                let loan = Loan(input, thread)
                let result = handler(loan.value, context)
                loan.end(returning: result, thread)
            #else
                let result = handler(input, context)
            #endif
            destroyContext(of: reaction, context, after: result)
            return result
        }
    }
}

/// Calls the handler of a reaction with what it carries along.
@inline(__always)
private func withContext<Result>(
    of reaction: RecordPointer, _ thread: ThreadPointer, _ body: () -> Result
) -> Result {
    let isPlain = !reaction.pointee.shape.isTravelling && !thread.carriesSomething
    if isPlain {
        let result = body()
        if thread.pointee.context.kind != VOW_NONE { forgetContext(of: reaction, thread) }
        return result
    }
    let isTravelling = reaction.pointee.shape.isTravelling
    let carried = isTravelling ? reaction.travel.pointee.context : vow_none()
    let scope = isTravelling ? reaction.travel.pointee.scope : nil
    // The handler may set another context, never another scope; what it has set goes.
    let outer = thread.pointee.context
    let outerScope = thread.pointee.scope
    thread.pointee.context = carried.retained()
    thread.pointee.scope = scope
    let result = body()
    forgetContext(of: reaction, thread)
    exchangeSurroundings(Surroundings(context: outer, scope: outerScope), thread)
    return result
}

/// Releases the context that a reaction's handler has left. A destructor may wait for the reaction, which must be seen.
@inline(never)
private func forgetContext(of reaction: RecordPointer, _ thread: ThreadPointer) {
    withFrame(of: reaction, nil, on: thread.pointee.frame?.pointee.executor, thread) {
        setContext(vow_none(), thread)
    }
}

/// The handler has returned `result` (consumed): what becomes of the reaction, which is in a phase since it has
/// begun. The caller keeps what it has read.
@inline(__always)
func complete(
    _ reaction: RecordPointer, begunAs phase: Phase, _ result: vow_value, _ reading: Reading,
    _ thread: ThreadPointer
) {
    if !reaction.pointee.shape.contains(.finally) {
        if resolve(reaction, whileIn: phase, result, ownsProducer: true, thread) {
            count(thread.cell.pointee.counters.handlersDone)
        } else {
            discard(result, of: reaction, thread)
        }
    } else {
        completeFinally(reaction, begunAs: phase, result, reading, thread)
    }
}

@inline(never)
private func completeFinally(
    _ reaction: RecordPointer, begunAs phase: Phase, _ result: vow_value, _ reading: Reading,
    _ thread: ThreadPointer
) {
    if result.isError {
        concludeFailed(reaction, begunAs: phase, result, reading, thread)
    } else if result.promise != nil || result.isThenable {
        let waitedFor = makePromise(of: result, thread)
        if waitFor(waitedFor, by: reaction, begunAs: phase, reading, thread) {
            count(thread.cell.pointee.counters.handlersDone)
        } else {
            discard(vow_value(VOW_PROMISE, waitedFor), of: reaction, thread)
        }
    } else {
        conclude(reaction, begunAs: phase, reading.input(of: reaction).retained(), thread)
        result.release(thread)
    }
}

/// The handler of a `finally` has failed (the error is consumed). If it was cancelled meanwhile, nobody reads why: that is
/// reported, unless it says what the handler has read.
private func concludeFailed(
    _ reaction: RecordPointer, begunAs phase: Phase, _ error: vow_value, _ reading: Reading,
    _ thread: ThreadPointer
) {
    if let promise = reading.promise, !reaction.isCancelled {
        reportIfReplaced(promise, by: error)
    }
    if settle(reaction, whileIn: phase, error, ownsProducer: true, thread) {
        count(thread.cell.pointee.counters.handlersDone)
        return
    }
    concludeCancelled(reaction, nil, thread)
    if error.isCancellation || error.says(reading.input(of: reaction)) {
        error.release(thread)
    } else {
        makePromise(of: error, thread).release(thread)
    }
}

/// A `finally` waits for its handler's promise (consumed) and keeps the outcome that it passes on then. False
/// when it was cancelled: nothing is consumed.
private func waitFor(
    _ promise: RecordPointer, by reaction: RecordPointer, begunAs phase: Phase, _ reading: Reading,
    _ thread: ThreadPointer
) -> Bool {
    guard let source = reading.promise,
        reaction.pointee.state.transitionToClaimed(from: phase)
    else { return false }
    source.retain()
    reaction.outcome = source
    reaction.passage.insert(.outcomeIsHeld)
    follow(promise, by: reaction, ownsProducer: true, thread)
    return true
}

/// A promise that the handler returned may use the context. So the context lives until that promise is through, and is
/// destroyed on the executor, which is kept for that. A reaction that carries its context has a closure, which keeps what it has handed out.
@inline(__always)
private func destroyContext(
    of reaction: RecordPointer, _ context: UnsafeMutableRawPointer?, after result: vow_value
) {
    if !reaction.pointee.shape.contains(.extras) { return }
    guard let destroy = reaction.extras.pointee.destroy else { return }
    if result.promise != nil || result.isThenable {
        if !reaction.pointee.flags.contains(RecordFlag.carries) {
            reaction.executorOfContext?.retain()
            return
        }
        reaction.extras.pointee.destroy = nil
    }
    destroy(context)
}
