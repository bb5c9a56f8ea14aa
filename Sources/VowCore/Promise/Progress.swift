// Progress: what the producer of a promise says, told to those who listen, on their executors and no more often than
// they want.
//
// A listener has at most one delivery: a reaction that reads nothing, or, where it has to wait, a delay. It tells what
// is newest when it runs. When it ends, the next one is begun if there is something new.

import CVow
import CVowPlatform

/// - Returns: false without memory; the context is destroyed then.
func listen(
    to promise: RecordPointer, every interval: Int64, _ fn: @escaping vow_progress_handler,
    _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?, _ thread: ThreadPointer
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
            promise: promise, interval: interval, fn: fn, context: context, destroy: destroy,
            executor: executorForReaction(nil, thread)))
    listener.note[0] = 0
    listenersLock.withLock { list(listener, for: promise) }
    promise.pointee.flags.insert(RecordFlag.hasListeners)
    return true
}

/// The promise (borrowed) is so far. `fraction` is a number.
func setProgress(
    of promise: RecordPointer, _ fraction: Double, _ note: UnsafePointer<CChar>?,
    _ thread: ThreadPointer
) {
    if promise.pointee.state.read().hasValue { return }
    let fraction = min(max(fraction, 0), 1)
    if isWatched { noteProgress(promise, fraction, note) }
    if !promise.pointee.flags.contains(RecordFlag.hasListeners) { return }
    asOneStep(thread) {
        while let next = nextToTell(of: promise, fraction, note) {
            if let delayed = next.tooLate {
                _ = cancel(delayed, ownErrors.cancelled, thread)
                delayed.release(thread)
            } else {
                deliver(to: next.listener, round: next.round, thread)
            }
        }
    }
}

/// What a combinator says of itself.
@inline(__always)
func reportShare(_ done: Int, of count: Int, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if isWatched || promise.pointee.flags.contains(RecordFlag.hasListeners) {
        setProgress(of: promise, Double(done) / Double(count), nil, thread)
    }
}

/// A promise with listeners is freed: those that are not being told are freed too.
func closeListeners(of promise: RecordPointer, _ thread: ThreadPointer) {
    var listener = listenersLock.withLock { unlist(allOf: promise) }
    while let current = listener {
        listener = current.pointee.next
        if let delayed = takeDelayed(current) {
            _ = cancel(delayed, ownErrors.cancelled, thread)
            delayed.release(thread)
        }
        release(current, thread)
    }
}

private struct NextToTell {
    let listener: ListenerPointer
    let round: UInt32
    /// A delivery (owned) that waits although all is done.
    let tooLate: RecordPointer?
}

/// Keeps what is new for every listener; returns one that has not heard of it and has no delivery on its way. Called
/// again until there is none.
private func nextToTell(
    of promise: RecordPointer, _ fraction: Double, _ note: UnsafePointer<CChar>?
) -> NextToTell? {
    listenersLock.withLock {
        var next: NextToTell?
        forEachListener(of: promise) { listener in
            listener.keep(fraction, note)
            if next != nil { return }
            if !listener.pointee.isDelivering {
                next = NextToTell(
                    listener: listener, round: beginDelivery(listener), tooLate: nil)
            } else if fraction >= 1, let delayed = listener.pointee.delayed {
                listener.pointee.delayed = nil
                next = NextToTell(
                    listener: listener, round: listener.pointee.round, tooLate: delayed)
            }
        }
        return next
    }
}

/// Under the lock.
private func beginDelivery(_ listener: ListenerPointer) -> UInt32 {
    listener.pointee.isDelivering = true
    listener.pointee.holds += 1
    listener.pointee.round &+= 1
    return listener.pointee.round
}

private func deliver(to listener: ListenerPointer, round: UInt32, _ thread: ThreadPointer) {
    let now = clockNow(thread)
    let wait = listenersLock.withLock { listener.pointee.timeLeft(at: now) }
    let reaction = Reaction(
        shape: [.link, .extras, .onFulfilled], handler: tell,
        context: UnsafeMutableRawPointer(listener), executor: listener.pointee.executor,
        extras: LinkExtras(onRejected: nil, destroy: endDelivery, label: nil))
    if wait == 0 {
        let work = makeWorkLater(reaction, thread)
        // Where it cannot run, it has nothing to say.
        work.pointee.isObserved.set()
        work.release(thread)
        return
    }
    let delayed = react(to: makeDelay(wait, thread), reaction, thread)
    delayed.pointee.isObserved.set()
    let isKept = listenersLock.withLock {
        // It may have come to its end, and another one begun.
        if listener.pointee.round != round || listener.pointee.promise == nil { return false }
        listener.pointee.delayed = delayed
        return true
    }
    if !isKept { delayed.release(thread) }
}

/// On the listener's executor.
private func tell(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let listener = listener(in: context)
    let thread = currentThread()
    let now = clockNow(thread)
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Listener.longestNote + 1) { note in
        guard let note = note.baseAddress else { return }
        var fraction = 0.0
        let isPending = listenersLock.withLock {
            // While it is listed its promise is not freed.
            guard let promise = listener.pointee.promise,
                !promise.pointee.state.read().hasValue
            else { return false }
            fraction = listener.pointee.fraction
            strcpy(note, listener.note)
            listener.pointee.hasNews = false
            listener.pointee.toldAt = now
            return true
        }
        if isPending {
            listener.pointee.fn(fraction, note[0] == 0 ? nil : note, listener.pointee.context)
        }
    }
    return vow_none()
}

/// A delivery is through, or could not be made.
private func endDelivery(_ context: UnsafeMutableRawPointer?) {
    let listener = listener(in: context)
    let thread = currentThread()
    var round: UInt32?
    let delayed = listenersLock.withLock {
        listener.pointee.isDelivering = false
        listener.pointee.round &+= 1
        if listener.pointee.hasNews, let promise = listener.pointee.promise,
            !promise.pointee.state.read().hasValue
        {
            round = beginDelivery(listener)
        }
        defer { listener.pointee.delayed = nil }
        return listener.pointee.delayed
    }
    delayed?.release(thread)
    if let round { asOneStep(thread) { deliver(to: listener, round: round, thread) } }
    release(listener, thread)
}

private func listener(in context: UnsafeMutableRawPointer?) -> ListenerPointer {
    guard let context else { fatal("progress is told to nobody") }
    return context.assumingMemoryBound(to: Listener.self)
}

private func takeDelayed(_ listener: ListenerPointer) -> RecordPointer? {
    listenersLock.withLock {
        defer { listener.pointee.delayed = nil }
        return listener.pointee.delayed
    }
}

private func release(_ listener: ListenerPointer, _ thread: ThreadPointer) {
    let isLast = listenersLock.withLock {
        listener.pointee.holds -= 1
        return listener.pointee.holds == 0
    }
    if !isLast { return }
    let it = listener.pointee
    giveMemoryBack(listener, Listener.size)
    it.executor.release(thread)
    if let destroy = it.destroy { runForeign(thread) { destroy(it.context) } }
}
