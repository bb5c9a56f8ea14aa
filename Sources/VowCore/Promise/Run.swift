// Running a reaction: claim it, call its handler, resolve it with what the handler returned.

import CVow

/// What a reaction that has begun reads; each promise is owned.
struct Reading {
    /// Nil for work that reads no promise.
    let promise: RecordPointer?
    /// It was cancelled before it began: what it reads instead.
    let cancellation: vow_value?

    /// Clean-up sees what there is to clean up.
    func input(of reaction: RecordPointer) -> vow_value {
        if let cancellation, promise == nil || !reaction.pointee.shape.contains(.finally) {
            return cancellation
        }
        return promise?.value ?? vow_none()
    }

    func release(_ thread: ThreadPointer) {
        promise?.release(thread)
        cancellation?.release(thread)
    }
}

/// open → running: the reaction is begun, and the promise it reads is the caller's. Nil when it was withdrawn.
@inline(__always)
private func begin(_ reaction: RecordPointer) -> Reading? {
    if reaction.isUnseen && reaction.pointee.state.read().phase == .open {
        let promise = reaction.upstream
        reaction.pointee.state.run()
        return Reading(promise: promise, cancellation: nil)
    }
    if let word = reaction.pointee.state.lock(whileIn: .open) {
        let promise = reaction.upstream
        reaction.pointee.state.unlock(.running, word.head)
        return Reading(promise: promise, cancellation: nil)
    }
    return beginCancelled(reaction)
}

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

/// The executor of a reaction that has run: whoever works for it gives all those references back together.
@inline(__always)
func releaseAfterRun(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    if let place = thread.pointee.place, place.pointee.executor == executor {
        place.pointee.runs &+= 1
    } else {
        executor?.release(thread)
    }
}

/// Calls foreign code as the handler of a reaction.
@inline(__always)
func withFrame<Result>(
    of reaction: RecordPointer, _ promise: RecordPointer?, on executor: ExecutorPointer?,
    _ thread: ThreadPointer, _ body: () -> Result
) -> Result {
    var frame = Frame(
        reaction: reaction, promise: promise, executor: executor, outer: thread.pointee.frame)
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

/// Calls the handler of a reaction with what it carries along.
@inline(__always)
private func withContext<Result>(
    of reaction: RecordPointer, _ thread: ThreadPointer, _ body: () -> Result
) -> Result {
    let isPlain = !reaction.pointee.shape.isTravelling && !thread.carriesSomething
    if isPlain {
        let result = body()
        if thread.pointee.context.kind != VOW_NONE { setContext(vow_none(), thread) }
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
    exchangeSurroundings(Surroundings(context: outer, scope: outerScope), thread)
        .context.release(thread)
    return result
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
    /// It is an event loop that was destroyed, or the library's work in the process has ended.
    case shutDown
    /// The system gives no thread.
    case noThread
}

/// Rejects a reaction that its executor cannot run. Else as `passThrough`.
func refuse(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    switch reason {
    case .forked: reaction.progress.insert(.isRefused)
    case .shutDown: reaction.progress.insert([.isRefused, .isShutOut])
    case .noThread: reaction.progress.insert([.isRefused, .lacksThread])
    }
    passThrough(reaction, thread)
}

/// Also nested, from a wait inside a context's destructor.
@inline(never)
func finishSkipped(_ thread: ThreadPointer) {
    let outer = thread.pointee.isSkipping
    thread.pointee.isSkipping = true
    while true {
        if let reaction = thread.pointee.skipped.popFirst() {
            skip(reaction, thread)
        } else if let reaction = thread.pointee.withdrawn.popFirst() {
            destroyContext(of: reaction, reading: nil, thread)
            asOneStep(thread) { endWithdrawn(reaction, thread) }
        } else {
            break
        }
    }
    thread.pointee.isSkipping = outer
}

/// Settles a reaction without its handler, or, when its context is destroyed, one that follows.
@inline(never)
private func skip(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if reaction.pointee.flags.contains(RecordFlag.follows) {
        endFollowing(reaction, thread)
        return
    }
    guard let reading = begin(reaction) else {
        dropWithdrawn(reaction, thread)
        return
    }
    let isRefused = reaction.progress.contains(.isRefused)
    if reading.cancellation != nil && !isRefused
        && reaction.handles(rejected: reading.input(of: reaction).isError)
    {
        handBack(reaction, reading, thread)
        return
    }
    var value = (reading.cancellation ?? reading.promise?.value ?? vow_none()).retained()
    if isRefused {
        value.release(thread)
        value = refusal(reaction.progress)
    } else if reading.promise == nil && reading.cancellation == nil {
        fatal("a reaction that reads no promise was passed through")
    }
    passOn(reaction, reading, value, thread)
}

private func refusal(_ progress: Progress) -> vow_value {
    if progress.contains(.isShutOut) { return ownErrors.shutDown }
    return progress.contains(.lacksThread) ? ownErrors.noMemory : ownErrors.forked
}

/// Settles a reaction that has begun, but calls no handler, with a value (consumed).
@inline(never)
func passOn(
    _ reaction: RecordPointer, _ reading: Reading, _ value: vow_value, _ thread: ThreadPointer
) {
    let executor = reaction.executor
    destroyContext(of: reaction, reading: reading.promise, thread)
    asOneStep(thread) {
        if let promise = reading.promise { finishDelivery(of: reaction, promise, thread) }
        if reading.cancellation == nil {
            conclude(reaction, begunAs: .running, value, thread)
        } else {
            concludeCancelled(reaction, value, thread)
        }
        reading.release(thread)
    }
    executor?.release(thread)
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
        conclude(reaction, begunAs: phase, result, thread)
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
    reaction.progress.insert(.outcomeIsHeld)
    follow(promise, by: reaction, ownsProducer: true, thread)
    return true
}

/// Settles a running reaction with an outcome (consumed), unless it was cancelled.
@inline(__always)
private func conclude(
    _ reaction: RecordPointer, begunAs phase: Phase, _ value: vow_value, _ thread: ThreadPointer
) {
    if settle(reaction, whileIn: phase, value, ownsProducer: true, thread) {
        count(thread.cell.pointee.counters.handlersDone)
    } else {
        concludeCancelled(reaction, nil, thread)
        value.release(thread)
    }
}

/// A reaction that was withdrawn is dropped by who had it: an executor, or the list of skipped ones.
@inline(never)
private func dropWithdrawn(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if !reaction.pointee.flags.contains(RecordFlag.dropped) {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    reaction.pointee.flags.remove(RecordFlag.dropped)
    let executor = reaction.executor
    if let promise = reaction.withdrawnUpstream {
        asOneStep(thread) {
            finishDelivery(of: reaction, promise, thread)
            promise.release(thread)
        }
    }
    executor?.release(thread)
    reaction.releaseProducer(thread)
}

/// What a promise that the handler returned has to do with the context is not known: that lives until it is through. One
/// that is housed is a closure, which keeps what it has handed out.
@inline(__always)
private func destroyContext(
    of reaction: RecordPointer, _ context: UnsafeMutableRawPointer?, after result: vow_value
) {
    if !reaction.pointee.shape.contains(.extras) { return }
    guard let destroy = reaction.extras.pointee.destroy else { return }
    if result.promise != nil || result.isThenable {
        if !reaction.pointee.flags.contains(RecordFlag.isHoused) { return }
        reaction.extras.pointee.destroy = nil
    }
    destroy(context)
}

/// Of a reaction whose handler does not run, or has run.
func destroyContext(
    of reaction: RecordPointer, reading promise: RecordPointer?, _ thread: ThreadPointer
) {
    guard reaction.hasContextToDestroy, let destroy = reaction.extras.pointee.destroy else {
        return
    }
    // Its own promise may be waited for in there, which must be seen.
    withFrame(of: reaction, promise, on: thread.pointee.frame?.pointee.executor, thread) {
        destroy(reaction.link.pointee.context)
    }
}
