// Registering a reaction: one record that is both the member of the promise's queue and the new promise.

import CVow

/// Everything about a reaction but its promise.
struct Reaction {
    var shape: Shape
    var handler: Handler?
    var context: UnsafeMutableRawPointer?
    /// Borrowed; nil: the calling thread's.
    var executor: ExecutorPointer?
    var extras = LinkExtras()
    /// Borrowed.
    var token: SourcePointer?
    /// A rejection is observed by this reaction.
    var seesRejections = true
    /// `context` is `CarriedContext.size` bytes to be moved into the link.
    var carries = false
}

/// Registers a reaction on a promise (consumed); the new promise is owned.
func react(
    to promise: RecordPointer, _ reaction: Reaction, _ thread: ThreadPointer
) -> RecordPointer {
    let rejection = reaction.token.flatMap { rejectionFor($0) }
    guard let derived = makeLink(reaction, upstream: rejection ?? promise, thread) else {
        // The promise is not observed by this: its rejection is reported if this is the last reference.
        promise.release(thread)
        rejection?.release(thread)
        return promiseWithoutMemory
    }
    if reaction.seesRejections && !promise.isFulfilled { markObserved(promise, by: reaction.shape) }
    if let rejection {
        startCancelled(derived)
        // Before foreign code could settle the promise, which this reaction does not read.
        asOneStep(thread) {
            register(derived, on: rejection, isInline: derived.isInline, thread)
            promise.release(thread)
        }
        return derived
    }
    register(derived, on: promise, isInline: derived.isInline, thread)
    if reaction.token != nil { enterToken(derived, thread) }
    return derived
}

/// `react` for a reaction with nothing but a handler, as most are.
@inline(__always)
func react(
    to promise: RecordPointer, _ shape: Shape, _ handler: @escaping Handler,
    _ context: UnsafeMutableRawPointer?, _ thread: ThreadPointer
) -> RecordPointer {
    if thread.carriesSomething {
        let reaction = Reaction(shape: shape, handler: handler, context: context, executor: nil)
        return react(to: promise, reaction, thread)
    }
    guard let memory = takeMemoryHere(Shape.link.recordSize, thread.cell) else {
        promise.release(thread)
        return promiseWithoutMemory
    }
    let executor = executorForReaction(nil, thread)
    let isInline = executor == ownExecutors.inline
    let derived = initialiseLink(
        memory, shape, upstream: promise, handler, context, executor,
        flags: isInline ? RecordFlag.isInline : 0, thread)
    let isSettled = promise.pointee.state.read().phase == .settled
    if !isSettled || promise.value.isError { markObserved(promise, by: shape) }
    // No other thread knows the reaction before the call returns. Outside of foreign code an inline handler runs as the last
    // act of that call, so on a settled promise no order is to be kept.
    if isSettled && isInline && thread.pointee.foreignDepth == 0 && !shape.contains(.finally)
        && shape.contains(promise.value.isError ? .onRejected : .onFulfilled)
    {
        runPrivately(derived, reading: promise, thread)
    } else {
        register(derived, on: promise, isInline: isInline, thread)
    }
    return derived
}

/// Starts a reaction with a cancelled token, while no other thread can look at it.
private func startCancelled(_ reaction: RecordPointer) {
    reaction.pointee.flags.insert(RecordFlag.cancelled)
    reaction.pointee.state.beginCancelled()
}

/// Makes work, which reads no promise, for an executor.
func makeWork(_ reaction: Reaction, _ thread: ThreadPointer) -> RecordPointer {
    guard let work = makeLink(reaction, upstream: nil, thread) else { return promiseWithoutMemory }
    work.beginOut()
    let source = reaction.token
    let rejection = source.flatMap { rejectionFor($0) }
    if let rejection {
        startCancelled(work)
        rejection.release(thread)
    }
    if work.isInline {
        thread.pointee.agenda.ready.append(work)
    } else {
        submit(work, thread)
        finishRegistering(thread)
    }
    if source != nil { enterToken(work, thread) }
    return work
}

/// Makes work for later: the caller hands it over, or gives it back.
func makeWorkAside(_ reaction: Reaction, _ thread: ThreadPointer) -> RecordPointer? {
    let work = makeLink(reaction, upstream: nil, thread)
    work?.beginOut()
    return work
}

func giveBackWork(_ work: RecordPointer, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.handlersDone)
    work.executor?.release(thread)
    work.releaseProducer(thread)
    work.release(thread)
}

/// Makes work where no foreign code, such as an executor's `submit`, may run: it is handed over at the end of the step.
func makeWorkLater(_ reaction: Reaction, _ thread: ThreadPointer) -> RecordPointer {
    guard let work = makeLink(reaction, upstream: nil, thread) else { return promiseWithoutMemory }
    work.beginOut()
    asOneStep(thread) { thread.pointee.agenda.handOver.append(work) }
    return work
}

/// Calls a function, which may be foreign code, on the executor, or here if that refuses. Returns false if any thread will do,
/// or without memory: then the caller calls it.
@inline(never)
func endElsewhere(
    _ context: UnsafeMutableRawPointer, on executor: ExecutorPointer, _ function: @escaping Destroy,
    _ thread: ThreadPointer
) -> Bool {
    if executor.ownsThread == nil || isAt(executor, thread) { return false }
    let here = exchangeSurroundings(Surroundings(), thread)
    let work = makeWorkAside(
        Reaction(
            shape: .ofWork, handler: { _, _ in vow_none() },
            context: context, executor: executor), thread)
    exchangeSurroundings(here, thread)
    guard let work else { return false }
    // Not before: without memory the function would have been called.
    silence(work)
    beginWork(work, ending: function, thread)
    work.release(thread)
    return true
}

/// Hands over work that was made aside. The function is called at its end, whether it can run or not.
func beginWork(_ work: RecordPointer, ending function: @escaping Destroy, _ thread: ThreadPointer) {
    work.extras.pointee.destroy = function
    asOneStep(thread) { thread.pointee.agenda.handOver.append(work) }
}

/// The rejection of work that cannot run is no news, neither now nor after its handle is gone.
func silence(_ work: RecordPointer) {
    work.pointee.isObserved.set()
    work.pointee.flags.insert(RecordFlag.passed)
}

/// Makes a link, with one reader's and its queue's producer reference. Without memory: nil, and the context is destroyed.
@inline(__always)
private func makeLink(
    _ reaction: Reaction, upstream: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    var shape = reaction.shape
    if thread.carriesSomething || reaction.token != nil {
        shape.formUnion([.extras, .travels])
    }
    let size = shape.recordSize
    let carried = reaction.carries ? CarriedContext.size : 0
    // `threadCell` anew: with the cell kept from above, the compiler would copy the whole reaction first.
    guard let memory = takeMemoryHere(size + carried, threadCell()) else {
        if let destroy = reaction.extras.destroy {
            runForeign(thread) { destroy(reaction.context) }
        }
        return nil
    }
    let executor = executorForReaction(reaction.executor, thread)
    let isInline = executor == ownExecutors.inline
    var context = reaction.context
    if let given = context, carried > 0 {
        context = memory + size
        context?.copyMemory(from: given, byteCount: carried)
    }
    let link = initialiseLink(
        memory, shape, upstream: upstream, reaction.handler, context, executor,
        flags: (reaction.carries ? RecordFlag.carries : 0)
            | (isInline ? RecordFlag.isInline : 0), thread)
    if shape.contains(.extras) { initialiseExtras(of: link, reaction, thread) }
    return link
}

@inline(__always)
private func initialiseLink(
    _ memory: UnsafeMutableRawPointer, _ shape: Shape, upstream: RecordPointer?,
    _ handler: Handler?, _ context: UnsafeMutableRawPointer?, _ executor: ExecutorPointer,
    flags: UInt8, _ thread: ThreadPointer
) -> RecordPointer {
    let link = memory.bindMemory(to: Record.self, capacity: 1)
    link.initialize(to: Record(.open, shape: shape, promises: 1, producers: 1, flags: flags))
    link.upstream = upstream
    link.link.initialize(
        to: flags & RecordFlag.isInline != 0
            ? LinkPart(handler: handler, context: context, source: upstream)
            : LinkPart(handler: handler, context: context, executor: executor))
    count(thread.cell.pointee.counters.promisesMade)
    count(thread.cell.pointee.counters.handlersRegistered)
    if isWatched { noteMade(link, TraceKind(ofLink: shape, reads: upstream != nil)) }
    return link
}

private func initialiseExtras(
    of link: RecordPointer, _ reaction: Reaction, _ thread: ThreadPointer
) {
    link.extras.initialize(to: reaction.extras)
    if isWatched, let label = reaction.extras.label { noteLabel(link, label) }
    // Without extras of its own, one handler serves both outcomes.
    if !reaction.shape.contains(.extras) { link.extras.pointee.onRejected = reaction.handler }
    if !link.pointee.shape.isTravelling { return }
    reaction.token?.retainToken()
    link.travel.initialize(
        to: TravelPart(token: reaction.token, surroundingsHere(thread)))
}

/// Enters a reaction behind the members that are there, or hands it over if none is waiting.
@inline(__always)
private func register(
    _ reaction: RecordPointer, on promise: RecordPointer, isInline: Bool, _ thread: ThreadPointer
) {
    let phases: PhaseSet = isInline ? .ofInlineReactions : .ofReactions
    if promise.pointee.state.enlist(reaction, while: phases) == nil { return }
    if isInline {
        registerInline(reaction, onSettled: promise, thread)
    } else {
        reaction.beginOut()
        if !reaction.handles(rejected: promise.value.isError) {
            passThrough(reaction, thread)
        } else {
            submit(reaction, thread)
        }
        finishRegistering(thread)
    }
}

@inline(never)
private func registerInline(
    _ reaction: RecordPointer, onSettled promise: RecordPointer, _ thread: ThreadPointer
) {
    repeat {
        reaction.beginOut()
        if !reaction.handles(rejected: promise.value.isError) {
            passThrough(reaction, thread)
            finishRegistering(thread)
            return
        }
        // At the end of this call, or with no thread that could register another one: no order is to be kept.
        if thread.pointee.foreignDepth == 0 || promise.isOnlyMine {
            thread.pointee.agenda.ready.append(reaction)
            return
        }
        // The reaction waits for the running handler, and reactions of other threads line up behind it.
        if promise.pointee.state.transitionToDelivering() {
            deferInline(reaction, of: promise, thread)
            return
        }
    } while promise.pointee.state.enlist(reaction, while: .ofInlineReactions) != nil
}

@inline(__always)
private func finishRegistering(_ thread: ThreadPointer) {
    if !thread.pointee.agenda.skipped.isEmpty
        && !thread.pointee.agenda.draining.contains(.handOver)
    {
        drainLeftovers(thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    fileprivate var isFulfilled: Bool {
        pointee.state.read().phase == .settled && !value.isError
    }
}

/// Marks a promise that is not fulfilled. A `finally` may take its mark back: see `reportIfReplaced`.
@inline(__always)
private func markObserved(_ promise: RecordPointer, by shape: Shape) {
    if !shape.contains(.finally) {
        promise.pointee.isObserved.set()
    } else if !promise.pointee.isObserved.isSetForGood {
        promise.pointee.isObserved.setAlone()
    }
}

// MARK: Giving a promise up whose end is wanted all the same

/// Gives up a promise (consumed) that is to go on as with a reader. One such reader is enough; a reaction needs none.
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
    // The promise itself is to report, by its own name, and the reader that goes is not missed.
    derived.pointee.flags.insert(RecordFlag.passed)
    derived.pointee.isObserved.set()
    derived.release(thread)
}
