// Progress: a promise's producer reports it, and listeners are told on their executors, no more often than they want.
//
// A listener has at most one delivery: a reaction that reads nothing, behind a delay if it has to wait. The delivery tells
// the newest report, if it is time by the clock of the listener's executor. When it ends, the next delivery begins if there
// is news.
//
// Every field of a listener is under `listenersLock`. The holder takes no other lock of the core, and runs no foreign code
// but the program's allocator. A listener has a hold for its promise, which lists it, and one for the delivery under way;
// the last hold frees the listener and then calls its destructor. The thread that begins a delivery sets `isDelivering`
// under the lock, and reads `nextTold` until the delivery is submitted. News that comes meanwhile stays in the listener; the
// end of the delivery finds it under the lock. A delivery that did not reach its executor drops the news: the next one would
// not reach it either. If deliveries wait for their time although all is done, they make a line, each with a hold and the
// mark `isHurried`, so that no listener stands in two lines; each is looked at again when its turn comes.
//
// No call begins after the settling. A delivery looks at the promise's word under the lock and then calls. If it saw no
// value, the settling's publication is not before that look. On a serial executor all work that learns of the settling there
// runs after the delivery has ended, and a later delivery sees the value. On the pool, or for another thread, a call that
// has begun may run while the promise settles, and is not waited for. While a listener is listed its promise is not freed:
// the thread that frees the promise takes the listeners out first, under the lock.

import CVow
import CVowPlatform

/// - Parameters:
///   - executor: nil: the executor of a reaction made here.
///   - token: borrowed. Its cancellation ends the listening.
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
        // An immortal promise is settled and has no progress.
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

/// Sets the progress of a promise (borrowed). `fraction` is a number.
/// - Parameter onlyForward: a listener that has a greater fraction keeps it.
func setProgress(
    of promise: RecordPointer, _ fraction: Double, _ note: UnsafePointer<CChar>?,
    onlyForward: Bool = false, _ thread: ThreadPointer
) {
    if promise.pointee.state.read().hasValue { return }
    let fraction = min(max(fraction, 0), 1)
    if isWatched { noteProgress(promise, fraction, note) }
    if !promise.pointee.flags.contains(RecordFlag.hasListeners) { return }
    // Each listener is written once: a newer report of another thread must not be overwritten.
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

/// Reports a combinator's progress. Many threads may settle its members, and come here in any order.
@inline(__always)
func reportShare(_ done: Int, of count: Int, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if isWatched || promise.pointee.flags.contains(RecordFlag.hasListeners) {
        let fraction = Double(done) / Double(count)
        setProgress(of: promise, fraction, nil, onlyForward: true, thread)
    }
}

/// A delivery to be submitted.
private struct Delivery {
    let listener: ListenerPointer
    let executor: ExecutorPointer
    let surroundings: Surroundings
    let round: UInt32

    /// The delivery has begun. The caller holds the lock.
    init(to listener: ListenerPointer) {
        self.listener = listener
        executor = listener.pointee.executor
        surroundings = listener.pointee.surroundings
        round = listener.pointee.round
    }
}

/// Begins deliveries to all listeners that have news and no delivery, as a line. Returns the first one.
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

/// Submits a delivery and returns the next one of the line. Its hold keeps each listener until then.
private func submitFirst(_ delivery: Delivery, _ thread: ThreadPointer) -> Delivery? {
    let next = listenersLock.withLock {
        delivery.listener.pointee.nextTold.map { Delivery(to: $0) }
    }
    submit(delivery, thread)
    return next
}

/// Returns a line of listeners, held, whose delivery waits for its time although all is done.
private func listWaiting(of promise: RecordPointer) -> ListenerPointer? {
    listenersLock.withLock {
        var first: ListenerPointer?
        var last: ListenerPointer?
        forEachListener(of: promise) { listener in
            // A thread that hurries the listener has yet to look for its waiting delivery.
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

/// Cancels a waiting delivery, so that the next one begins at once. Gives the hold back, and returns the next of the line.
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

/// The caller holds the lock.
private func beginDelivery(_ listener: ListenerPointer) -> Delivery {
    listener.pointee.isDelivering = true
    listener.pointee.hasRun = false
    listener.pointee.holds += 1
    listener.pointee.round &+= 1
    return Delivery(to: listener)
}

/// Submits a delivery. Its waiting time is known only on its executor, by that executor's clock.
private func submit(_ delivery: Delivery, _ thread: ThreadPointer) {
    let reaction = reaction(of: delivery)
    // Making inline work calls no foreign code: the work runs before later ready reactions.
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

/// Submits a delivery behind a delay. The caller has a hold on the listener.
private func submit(_ delivery: Delivery, after wait: Int64, _ thread: ThreadPointer) {
    let listener = delivery.listener
    let here = exchangeSurroundings(delivery.surroundings, thread)
    let delayed = react(to: makePlainDelay(wait, thread), reaction(of: delivery), thread)
    exchangeSurroundings(here, thread)
    silence(delayed)
    var isUnwanted = false
    let isKept = listenersLock.withLock {
        // This delivery may have ended, and another one begun.
        if listener.pointee.round != delivery.round { return false }
        // A change that came meanwhile did not find `delayed`.
        isUnwanted = listener.pointee.promise == nil || listener.pointee.fraction >= 1
        listener.pointee.hasRun = isUnwanted
        if !isUnwanted { listener.pointee.delayed = delayed }
        return !isUnwanted
    }
    if isUnwanted { _ = cancel(delayed, ownErrors.cancelled, thread) }
    if !isKept { delayed.release(thread) }
}

/// The handler of a delivery, on the listener's executor.
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

/// Ends a delivery that has run or could not be made.
func endDelivery(_ context: UnsafeMutableRawPointer?) {
    let listener = listener(in: context)
    let thread = currentThread()
    let now = clockNow(thread)
    var next: Delivery?
    var wait: Int64 = 0
    let delayed = listenersLock.withLock {
        listener.pointee.isDelivering = false
        listener.pointee.round &+= 1
        // A delivery that could not run would not run the next time either: the news is dropped.
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
