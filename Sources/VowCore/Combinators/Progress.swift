// Progress: what the producer of a promise says, told to those who listen, on their executors and no more often than
// they want.
//
// A listener has at most one delivery: a reaction that reads nothing, or, where it has to wait, a delay. It tells what
// is newest when it runs, if it is time. When it ends, the next one is begun if there is something new.

import CVow
import CVowPlatform

/// - Parameters:
///   - executor: nil: that of a reaction made here.
///   - token: borrowed. The listener leaves when it is cancelled.
/// - Returns: false without memory; the context is destroyed then.
func listen(
    to promise: RecordPointer, every interval: Int64, on executor: ExecutorPointer? = nil,
    until token: SourcePointer? = nil, _ fn: @escaping vow_progress_handler,
    _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?,
    _ thread: ThreadPointer
) -> Bool {
    let isImmortal = promise.pointee.shape.contains(.immortal)
    guard !isImmortal, let memory = takeMemory(Listener.size) else {
        if let destroy { runForeign(thread) { destroy(context) } }
        // An immortal one is settled: there is nothing to hear.
        return isImmortal
    }
    let listener = memory.bindMemory(to: Listener.self, capacity: 1)
    listener.initialize(
        to: Listener(
            interval: interval, fn: fn, context: context, destroy: destroy,
            executor: executorForReaction(executor, thread),
            surroundings: surroundingsHere(thread), token: token))
    listener.note[0] = 0
    if let token {
        token.retainToken()
        listener.pointee.hook = makeHook(of: listener, leaving: token)
        guard let hook = listener.pointee.hook else {
            release(listener, thread)
            return false
        }
        listener.pointee.holds += 1
        list(listener, for: promise)
        addHook(hook, to: token, thread)
    } else {
        list(listener, for: promise)
    }
    promise.pointee.flags.insert(RecordFlag.hasListeners)
    return true
}

/// The promise (borrowed) is so far. `fraction` is a number.
/// - Parameter onlyForward: whoever has heard of more already does not hear of less.
func setProgress(
    of promise: RecordPointer, _ fraction: Double, _ note: UnsafePointer<CChar>?,
    onlyForward: Bool = false, _ thread: ThreadPointer
) {
    if promise.pointee.state.read().hasValue { return }
    let fraction = min(max(fraction, 0), 1)
    if isWatched { noteProgress(promise, fraction, note) }
    if !promise.pointee.flags.contains(RecordFlag.hasListeners) { return }
    // Once: who came later with something newer must not be overwritten.
    listenersLock.withLock {
        forEachListener(of: promise) { listener in
            if !onlyForward || fraction > listener.pointee.fraction {
                listener.keep(fraction, note)
            }
        }
    }
    asOneStep(thread) {
        var told = beginDeliveries(of: promise)
        while let delivery = told { told = submitFirst(delivery, thread) }
        var hurried = listWaiting(of: promise)
        while let listener = hurried { hurried = hurry(listener, thread) }
    }
}

/// What a combinator says of itself. Its members may be settled by many threads, who come here in any order.
@inline(__always)
func reportShare(_ done: Int, of count: Int, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if isWatched || promise.pointee.flags.contains(RecordFlag.hasListeners) {
        let fraction = Double(done) / Double(count)
        setProgress(of: promise, fraction, nil, onlyForward: true, thread)
    }
}

/// One that is to be submitted.
private struct Delivery {
    let listener: ListenerPointer
    let executor: ExecutorPointer
    let surroundings: Surroundings
    let round: UInt32

    /// One that has begun; under the lock.
    init(to listener: ListenerPointer) {
        self.listener = listener
        executor = listener.pointee.executor
        surroundings = listener.pointee.surroundings
        round = listener.pointee.round
    }
}

/// To all that have not heard of what is new, and have none on its way: a line of them. Returns the first.
private func beginDeliveries(of promise: RecordPointer) -> Delivery? {
    listenersLock.withLock {
        var last: ListenerPointer?
        var first: Delivery?
        forEachListener(of: promise) { listener in
            if !listener.pointee.hasNews || listener.pointee.isDelivering { return }
            let delivery = beginDelivery(listener)
            listener.pointee.nextTold = nil
            if let last { last.pointee.nextTold = listener } else { first = delivery }
            last = listener
        }
        return first
    }
}

/// Returns the next of the line. The listeners are the deliveries' until they have been submitted.
private func submitFirst(_ delivery: Delivery, _ thread: ThreadPointer) -> Delivery? {
    let next = listenersLock.withLock {
        delivery.listener.pointee.nextTold.map { Delivery(to: $0) }
    }
    submit(delivery, thread)
    return next
}

/// Those whose delivery waits for its time although all is done: a line of them, held.
private func listWaiting(of promise: RecordPointer) -> ListenerPointer? {
    listenersLock.withLock {
        var first: ListenerPointer?
        var last: ListenerPointer?
        forEachListener(of: promise) { listener in
            // Who hurries it already has yet to look for what is waiting.
            if listener.pointee.fraction < 1 || listener.pointee.delayed == nil
                || listener.pointee.isHurried
            {
                return
            }
            listener.pointee.isHurried = true
            listener.pointee.holds += 1
            listener.pointee.nextHurried = nil
            if let last { last.pointee.nextHurried = listener } else { first = listener }
            last = listener
        }
        return first
    }
}

/// When such a delivery is cancelled the next one begins at once. Gives the hold back, and returns the next of the line.
private func hurry(_ listener: ListenerPointer, _ thread: ThreadPointer) -> ListenerPointer? {
    var next: ListenerPointer?
    let delayed = listenersLock.withLock {
        next = listener.pointee.nextHurried
        listener.pointee.isHurried = false
        defer { listener.pointee.delayed = nil }
        if listener.pointee.delayed != nil { listener.pointee.hasRun = true }
        return listener.pointee.delayed
    }
    if let delayed {
        _ = cancel(delayed, ownErrors.cancelled, thread)
        delayed.release(thread)
    }
    release(listener, thread)
    return next
}

/// Under the lock.
private func beginDelivery(_ listener: ListenerPointer) -> Delivery {
    listener.pointee.isDelivering = true
    listener.pointee.hasRun = false
    listener.pointee.holds += 1
    listener.pointee.round &+= 1
    return Delivery(to: listener)
}

/// How long it has to wait is seen on the executor, by whose clock that goes.
private func submit(_ delivery: Delivery, _ thread: ThreadPointer) {
    let reaction = reaction(of: delivery)
    // Nothing foreign is called by making it inline: it runs before what is made ready after it.
    let isInline = delivery.executor == ownExecutors.inline
    let here = exchangeSurroundings(delivery.surroundings, thread)
    let work = isInline ? makeWork(reaction, thread) : makeWorkLater(reaction, thread)
    exchangeSurroundings(here, thread)
    silence(work)
    work.release(thread)
}

private func reaction(of delivery: Delivery) -> Reaction {
    Reaction(
        shape: .ofWork, handler: tell,
        context: UnsafeMutableRawPointer(delivery.listener), executor: delivery.executor,
        extras: LinkExtras(onRejected: nil, destroy: endDelivery, label: nil))
}

/// The same, later. The caller has a hold on the listener.
private func submit(_ delivery: Delivery, after wait: Int64, _ thread: ThreadPointer) {
    let listener = delivery.listener
    let here = exchangeSurroundings(delivery.surroundings, thread)
    let delayed = react(to: makePlainDelay(wait, thread), reaction(of: delivery), thread)
    exchangeSurroundings(here, thread)
    silence(delayed)
    var isUnwanted = false
    let isKept = listenersLock.withLock {
        // It may have come to its end, and another one begun.
        if listener.pointee.round != delivery.round { return false }
        // What has happened meanwhile did not find it.
        isUnwanted = listener.pointee.promise == nil || listener.pointee.fraction >= 1
        listener.pointee.hasRun = isUnwanted
        if !isUnwanted { listener.pointee.delayed = delayed }
        return !isUnwanted
    }
    if isUnwanted { _ = cancel(delayed, ownErrors.cancelled, thread) }
    if !isKept { delayed.release(thread) }
}

/// On the listener's executor.
private func tell(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let listener = listener(in: context)
    let thread = currentThread()
    let now = clockNow(thread)
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Listener.longestNote + 1) { note in
        guard let note = note.baseAddress else { return }
        var call: (fn: vow_progress_handler, fraction: Double, context: UnsafeMutableRawPointer?)?
        listenersLock.withLock {
            listener.pointee.hasRun = true
            if listener.pointee.token?.pointee.isCancelled.isSet == true {
                listener.pointee.hasNews = false
                return
            }
            if !listener.pointee.isWanted || listener.pointee.timeLeft(at: now) > 0 { return }
            call = (listener.pointee.fn, listener.pointee.fraction, listener.pointee.context)
            strcpy(note, listener.note)
            listener.pointee.hasNews = false
            listener.pointee.toldAt = now
        }
        if let call { call.fn(call.fraction, note[0] == 0 ? nil : note, call.context) }
    }
    return vow_none()
}

/// A delivery is through, or could not be made.
func endDelivery(_ context: UnsafeMutableRawPointer?) {
    let listener = listener(in: context)
    let thread = currentThread()
    let now = clockNow(thread)
    var next: Delivery?
    var wait: Int64 = 0
    let delayed = listenersLock.withLock {
        listener.pointee.isDelivering = false
        listener.pointee.round &+= 1
        // One that could not run would not run the next time either: nothing more until there is more news.
        if !listener.pointee.hasRun { listener.pointee.hasNews = false }
        if listener.pointee.isWanted {
            next = beginDelivery(listener)
            wait = listener.pointee.timeLeft(at: now)
        }
        defer { listener.pointee.delayed = nil }
        return listener.pointee.delayed
    }
    delayed?.release(thread)
    if let next {
        asOneStep(thread) {
            if wait == 0 {
                submit(next, thread)
            } else {
                submit(next, after: wait, thread)
            }
        }
    }
    release(listener, thread)
}

private func listener(in context: UnsafeMutableRawPointer?) -> ListenerPointer {
    guard let context else { fatal("progress is told to nobody") }
    return context.assumingMemoryBound(to: Listener.self)
}
