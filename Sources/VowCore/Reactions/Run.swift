// Running a reaction: begin it, call its handler, resolve its promise with what the handler returned.
//
// An executor begins a reaction by `begin` (open → running), because a canceller may take it away until then. An inline
// reaction that carries nothing is begun by running it: it stays open while its handler runs, this thread alone has it on
// its list, and a canceller only marks it (`cancelReaction`), which the thread finds when it publishes the result.

import CVow

/// Runs a reaction that its executor has begun, with the reference that the queue had.
/// - Parameter looksForWorkNext: the caller is a worker of the pool.
@inline(never)
func run(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    // A handler may take its time.
    payOwedWorker(thread)
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

/// Calls a handler of a reaction that has begun.
@inline(__always)
func call(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    if isWatched || reaction.pointee.shape.isTravelling || thread.carriesSomething {
        return callCarrying(
            handler, of: reaction, with: input, from: promise, on: executor, thread)
    }
    let result = callPlainly(
        handler, of: reaction, with: input, from: promise, on: executor, thread)
    if thread.pointee.context.kind != VOW_NONE { forgetContext(of: reaction, thread) }
    return result
}

@inline(__always)
private func callPlainly(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    var call = Call(of: reaction, reading: promise, on: executor, thread)
    return withUnsafeMutablePointer(to: &call) { call in
        call.begin(thread)
        let context = reaction.link.pointee.context
        #if VOW_CHECKED
            let loan = Loan(input, thread)
            let result = handler(loan.value, context)
            loan.end(returning: result, thread)
        #else
            let result = handler(input, context)
        #endif
        if reaction.pointee.shape.contains(.extras) {
            destroyContext(of: reaction, context, after: result)
        }
        call.end(thread)
        return result
    }
}

/// The same with what the reaction carries along, and noted in a trace.
@inline(never)
private func callCarrying(
    _ handler: Handler, of reaction: RecordPointer, with input: vow_value,
    from promise: RecordPointer?, on executor: ExecutorPointer?, _ thread: ThreadPointer
) -> vow_value {
    let noted = isWatched ? noteRuns(reaction, reading: promise, on: executor) : nil
    let carried = reaction.surroundings ?? Surroundings()
    let outer = exchangeSurroundings(
        Surroundings(context: carried.context.retained(), scope: carried.scope), thread)
    let result = callPlainly(
        handler, of: reaction, with: input, from: promise, on: executor, thread)
    // The handler may have set another context, never another scope; what it has set goes.
    forgetContext(of: reaction, thread)
    exchangeSurroundings(outer, thread)
    noteRan(reaction, noted)
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
@inline(never)
func complete(
    _ reaction: RecordPointer, begunAs phase: Phase, _ result: vow_value, _ reading: Reading,
    _ thread: ThreadPointer
) {
    if !reaction.pointee.shape.contains(.finally) {
        if resolve(reaction, whileIn: phase, result, .given, thread) {
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
    if settle(reaction, from: phase, error, .given, thread) {
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
    follow(promise, by: reaction, .given, thread)
    return true
}

/// A promise that the handler returned may use the context. So the context lives until that promise is through, and is destroyed
/// on the executor, which is kept for that. A reaction that carries its context has a closure, which keeps what it handed out.
private func destroyContext(
    of reaction: RecordPointer, _ context: UnsafeMutableRawPointer?, after result: vow_value
) {
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

// MARK: Inline

/// Runs a reaction of this thread's list, which nobody has to be asked about before its handler is called. A thread that
/// cancels it meanwhile finds it open, and marks it.
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
    if result.kind >= VOW_STRING || reaction.pointee.shape.contains(.finally) {
        completeInline(reaction, result, reading: promise, delivery, thread)
        return
    }
    // A plain value calls no foreign code: where nobody waits, or one inline reaction, no step is needed.
    let owed = publishOwn(reaction, result, thread)
    switch owed {
    case .nothing?: break
    case .reference?: reaction.releaseProducer(thread)
    default:
        endInline(reaction, result, owed, reading: promise, delivery, thread)
        return
    }
    count(thread.cell.pointee.counters.handlersDone)
    if let promise { endReading(promise, delivery, thread) }
}

/// Settles a reaction that is begun by running it with a value that nobody follows. Nil: it was cancelled.
@inline(__always)
private func publishOwn(
    _ reaction: RecordPointer, _ value: vow_value, _ thread: ThreadPointer
) -> Owed? {
    if isWatched { noteResolved(reaction, value) }
    if reaction.isUnseen {
        if reaction.pointee.state.read().phase != .open { return nil }
        writeOutcome(value, of: reaction, thread)
        reaction.pointee.state.close()
        return .reference
    }
    guard let word = reaction.pointee.state.lock(whileIn: .open) else { return nil }
    return publish(reaction, lockedAs: word, value, .given, thread)
}

/// In a step, because the result may call foreign code when it is released, or has to be followed.
@inline(never)
private func completeInline(
    _ reaction: RecordPointer, _ result: vow_value, reading promise: RecordPointer?,
    _ delivery: Passage, _ thread: ThreadPointer
) {
    asOneStep(thread) {
        if result.isOwnContent && !reaction.pointee.shape.contains(.finally) {
            payOwn(publishOwn(reaction, result, thread), of: reaction, result, thread)
        } else {
            let reading = Reading(promise: promise, cancellation: nil)
            complete(reaction, begunAs: .open, result, reading, thread)
        }
        // Afterwards, because until then the way from the reaction led there.
        if let promise { endReading(promise, delivery, thread) }
    }
}

/// In a step, because the reaction was cancelled, or has members that are to be notified or handed over.
@inline(never)
private func endInline(
    _ reaction: RecordPointer, _ result: vow_value, _ owed: Owed?, reading promise: RecordPointer?,
    _ delivery: Passage, _ thread: ThreadPointer
) {
    asOneStep(thread) {
        payOwn(owed, of: reaction, result, thread)
        if let promise { endReading(promise, delivery, thread) }
    }
}

/// - Parameter owed: what `publishOwn` has answered.
@inline(never)
private func payOwn(
    _ owed: Owed?, of reaction: RecordPointer, _ result: vow_value, _ thread: ThreadPointer
) {
    guard let owed else { return discard(result, of: reaction, thread) }
    pay(owed, of: reaction, .given, thread)
    count(thread.cell.pointee.counters.handlersDone)
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
    if result.kind < VOW_STRING {
        count(thread.cell.pointee.counters.handlersDone)
        // Its producer is gone, and its reader is to come: no lock is needed.
        writeOutcome(result, of: reaction, thread)
        reaction.pointee.state.close()
        reaction.pointee.counts.storeRelaxed(Counts.oneReader)
        promise.giveBack(1, thread)
        return
    }
    asOneStep(thread) {
        let reading = Reading(promise: promise, cancellation: nil)
        complete(reaction, begunAs: .open, result, reading, thread)
        promise.giveBack(1, thread)
    }
}

// MARK: Cancelled before it began

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
            settle(reaction, from: .claimed, result, .given, thread)
        } else {
            let read = reading.cancellation ?? ownErrors.cancelled
            end(reaction, result, read.isCancellation ? read.retained() : reaction.ownError, thread)
        }
        if let promise = reading.promise { endReading(promise, delivery, thread) }
        reading.cancellation?.release(thread)
    }
    releaseAfterRun(executor, thread)
}

/// The reaction was cancelled, or is being so at this moment.
@inline(never)
func runInlineCancelled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let reading = beginCancelled(reaction) else {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    runCancelled(reaction, reading, thread)
}

// MARK: Thenables

/// Asks the object. What it does with its resolver, now or later, decides about the subscription.
func subscribe(_ subscription: RecordPointer, _ thread: ThreadPointer) {
    guard let context = subscription.link.pointee.context else {
        fatal("a subscription to nothing")
    }
    let object = vow_value(VOW_OBJECT, context)
    guard let box = object.box, let ask = box.cls?.pointee.subscribe
    else { fatal("a subscription to an object that is no thenable") }
    if subscription.pointee.state.read().phase != .open {
        // Cancelled before the object was asked.
        subscription.releaseProducer(thread)
        object.release(thread)
        return
    }
    subscription.retainProducer()
    let isThenable = withFrame(of: subscription, nil, on: ownExecutors.inline, thread) {
        ask(box.part(ObjectPart.self).pointee.pointer, HandleMark.resolver(subscription))
    }
    if !isThenable
        && settle(subscription, from: .open, object, .given, thread)
    {
        return
    }
    // First, because the object's destructor might wait for what is broken here.
    subscription.releaseResolver(thread)
    object.release(thread)
}
