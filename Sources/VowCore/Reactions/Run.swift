// Running a reaction: begin it, call its handler, resolve its promise with the handler's result.
//
// An executor begins a reaction by `begin` (open → running), because a canceller may take it away until then.
//
// *Begun by running.* An inline reaction without a token or a context (`isBegunByRunning`) stays open while its handler runs.
// Its thread has it on its list, and reads only handler, context and `source`, which no canceller writes. A canceller claims
// it, finds it out of every queue, writes the error to come and leaves it cancelled; the handler runs on. Then the thread's own
// step fails. It waits until the canceller is through, a few instructions and no foreign code, claims the reaction, which
// acquires what the canceller wrote (`claimCancelled`), gives up the result and rejects. The wait is needed: the thread stores
// that the member is out and loads that it is open, the canceller stores the claim and loads `isOut`, and without a fence both
// loads may be old. Such a canceller looks in the queue of the promise, which the thread's reference keeps. A canceller that
// found the reaction in the queue has it alone, and only that one writes `source`. Until the reaction is settled, a thread that
// locks it finds it open and visits `upstream`; so that reference is given back after the step that settles the reaction.
//
// *Before the handle is known.* A reaction on a settled promise, made by a call outside of foreign code with the inline
// executor, runs as that call's last act (G4), settled by plain stores (`runPrivately`). The program synchronises the handle.

import CVow

/// Runs a reaction that its executor was given, with the queue's reference.
/// - Parameter looksForWorkNext: the caller is a worker of the pool.
@inline(never)
func run(_ reaction: RecordPointer, looksForWorkNext: Bool = false, _ thread: ThreadPointer) {
    // The handler may take long.
    payOwedWorker(thread)
    if reaction.pointee.shape.contains(.subscription) {
        if reaction.pointee.shape == .step {
            goOn(FiberPointer(ofStep: reaction), thread)
        } else {
            subscribe(reaction, thread)
        }
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
    if reaction.fiber != nil {
        begin(fiberOf: reaction, thread)
        return
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

/// Settles a reaction whose executor was to destroy its context. If it was cancelled since, its handler may have to run, here.
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

/// `callPlainly` with the surroundings of the reaction, noted in a trace.
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
    // The handler may have set another context, which goes, but never another scope.
    forgetContext(of: reaction, thread)
    exchangeSurroundings(outer, thread)
    noteRan(reaction, noted)
    return result
}

/// Releases the context that a handler has left. A destructor may wait for the reaction, which must be seen.
@inline(never)
func forgetContext(of reaction: RecordPointer, _ thread: ThreadPointer) {
    withFrame(of: reaction, nil, on: thread.pointee.frame?.pointee.executor, thread) {
        setContext(vow_none(), thread)
    }
}

/// Resolves a reaction, begun as `phase`, with its handler's result (consumed). The caller keeps the promise that it read.
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

/// Settles a `finally` whose handler has failed (error consumed). If it was cancelled meanwhile, no reader gets the error: it
/// is reported, unless it says what the handler has read.
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

/// Lets a `finally` wait for its handler's promise (consumed), with the outcome to pass on. False: cancelled, nothing consumed.
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

/// Destroys the context, unless the handler has returned a promise, which may use it. Then the context lives until that promise
/// is through, and is destroyed on the executor, which is kept for that. A carried closure keeps what it handed out.
func destroyContext(
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

/// Runs an inline reaction of this thread's list without a step. A canceller finds it open meanwhile, and marks it.
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
    // A plain value calls no foreign code: with no member, or one inline reaction, no step is needed.
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

/// Settles a reaction that is begun by running with a value that it does not follow. Nil: it was cancelled.
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

/// In a step, because releasing the result may call foreign code, or the result is followed.
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
        // Last, because until then a walk could come from the reaction to that promise.
        if let promise { endReading(promise, delivery, thread) }
    }
}

/// In a step, because the reaction was cancelled, or has members to notify or hand over.
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

/// - Parameter owed: the result of `publishOwn`.
@inline(never)
private func payOwn(
    _ owed: Owed?, of reaction: RecordPointer, _ result: vow_value, _ thread: ThreadPointer
) {
    guard let owed else { return discard(result, of: reaction, thread) }
    pay(owed, of: reaction, .given, thread)
    count(thread.cell.pointee.counters.handlersDone)
}

/// Runs a reaction that only this thread knows, on a settled promise (consumed), as the last act of the call that made it.
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
        // The producer's reference is gone and the reader's is to come: no lock is needed.
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

/// Runs a reaction that was cancelled before its executor began it, or passes on what it reads.
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
            // The handler has read the cancellation, so its own error counts.
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

@inline(never)
func runInlineCancelled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    guard let reading = beginCancelled(reaction) else {
        fatal("a reaction was begun twice: an executor ran the same work again")
    }
    runCancelled(reaction, reading, thread)
}

// MARK: Thenables

/// Asks the object, which decides about the subscription with its resolver, now or later.
func subscribe(_ subscription: RecordPointer, _ thread: ThreadPointer) {
    guard let context = subscription.link.pointee.context else {
        fatal("a subscription to nothing")
    }
    let object = vow_value(VOW_OBJECT, context)
    guard let box = object.box, let ask = box.cls?.pointee.subscribe
    else { fatal("a subscription to an object that is no thenable") }
    if subscription.pointee.state.read().phase != .open {
        // The subscription was cancelled before the object was asked.
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
    // First, because the object's destructor might wait for the promise that this breaks.
    subscription.releaseResolver(thread)
    object.release(thread)
}
