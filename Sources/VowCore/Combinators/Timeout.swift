// Promises of time and of descriptors: vow_timeout, vow_delay, and the promise that a descriptor is ready.
//
// vow_timeout is like a group of one promise and a timer, in one piece of memory: the first of the two stops the other;
// while the promise is being made, its maker does.
//
// The timer of a delay stands in the delay's own memory, and a watch in its promise's. A timer in the wheel, or a watch in
// its table, is one producer's reference. A cancelled promise of a descriptor is rejected only when the watch has ended: any
// thread that sees it settled may close the descriptor.

import CVow

// MARK: vow_timeout

private typealias TimeoutPointer = UnsafeMutablePointer<Timeout>

private struct Timeout: ~Copyable {
    /// The first field, by which the observer finds the time-out.
    let owner: ObserverOwner
    let stage = AtomicWord(Stage.creating)
    /// One each for the maker, the observer and the timer.
    let holds = AtomicWord(3)

    init() {
        owner = ObserverOwner(
            told: promiseTold, stopped: promiseStopped, calledBack: { _, _ in },
            view: ObserverView(
                endsByItself: true, distance: UInt16(timeoutStart), observed: observedInTime))
    }
}

private let timeoutStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + 15) & ~15
private let observerStart = timeoutStart + (MemoryLayout<Timeout>.size + 15) & ~15
private let timerStart = observerStart + Observer.size
private let wholeSize = timerStart + MemoryLayout<TimerNode>.size

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Timeout {
    private var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(self) - timeoutStart }

    fileprivate var promise: RecordPointer { start.assumingMemoryBound(to: Record.self) }

    fileprivate var observer: RecordPointer {
        (start + observerStart).assumingMemoryBound(to: Record.self)
    }

    fileprivate var timer: TimerPointer {
        (start + timerStart).assumingMemoryBound(to: TimerNode.self)
    }
}

private func timeout(at start: UnsafeMutableRawPointer) -> TimeoutPointer {
    (start + timeoutStart).assumingMemoryBound(to: Timeout.self)
}

private func timeout(of observer: RecordPointer) -> TimeoutPointer {
    timeout(at: UnsafeMutableRawPointer(observer) - observerStart)
}

/// Limits a promise (consumed) to `nanoseconds` (not negative), or to the time that its scope has left.
func limitTime(
    of promise: RecordPointer, _ nanoseconds: Int64, _ thread: ThreadPointer
) -> RecordPointer {
    if promise.pointee.state.read().hasValue { return promise }
    guard let limited = makeTimeout(thread) else {
        promise.release(thread)
        return promiseWithoutMemory
    }
    let left = timeLeft(thread) ?? nanoseconds
    asOneStep(thread) {
        switch startTimer(limited.timer, after: min(nanoseconds, left), thread) {
        case .started: watch(promise, limited, thread)
        case .refused: giveUp(promise, limited, ownErrors.refusal, thread)
        case .noMemory: giveUp(promise, limited, ownErrors.noMemory, thread)
        }
        letGo(of: limited, thread)
    }
    return limited.promise
}

private func makeTimeout(_ thread: ThreadPointer) -> TimeoutPointer? {
    let producer = ProducerPart(
        .timeout, size: wholeSize, owner: timeoutStart, stop: stopTimeout)
    guard let promise = makeProduced(producer, thread) else { return nil }
    let memory = UnsafeMutableRawPointer(promise)
    let limited = timeout(at: memory)
    limited.initialize(to: Timeout())
    let owner = UnsafeMutableRawPointer(limited).assumingMemoryBound(to: ObserverOwner.self)
    _ = initialiseObserver(at: memory + observerStart, owner: owner)
    limited.timer.initialize(to: TimerNode(timerFired))
    return limited
}

private func watch(
    _ promise: RecordPointer, _ limited: TimeoutPointer, _ thread: ThreadPointer
) {
    observe(promise, by: limited.observer, thread)
    let wasCreating = limited.pointee.stage.replaceAcquireRelease(
        Stage.creating, Stage.created
    ).exchanged
    if wasCreating { return }
    stopObserving(limited.observer, cancelling: true, thread)
    if stopTimer(limited.timer) { letGo(of: limited, thread) }
}

/// Settles a time-out that has no timer.
private func giveUp(
    _ promise: RecordPointer, _ limited: TimeoutPointer, _ error: vow_value,
    _ thread: ThreadPointer
) {
    limited.pointee.stage.storeRelaxed(Stage.decided)
    _ = settle(limited.promise, from: .open, error, .lent, thread)
    giveUpMember(promise, thread)
    letGo(of: limited, thread)
    letGo(of: limited, thread)
}

private func promiseTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    let limited = timeout(of: observer)
    let before = decide(limited, promise.value.retained(), thread)
    if before == Stage.created && stopTimer(limited.timer) { letGo(of: limited, thread) }
    letGo(of: limited, thread)
}

private func observedInTime(
    _ owner: UnsafeMutablePointer<ObserverOwner>, _ place: Int
) -> Observed {
    let limited = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Timeout.self)
    return place == 0 ? limited.observer.observed : .noMore
}

private func promiseStopped(_ observer: RecordPointer, _ thread: ThreadPointer) {
    letGo(of: timeout(of: observer), thread)
}

private func timerFired(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let limited = timeout(at: UnsafeMutableRawPointer(timer) - timerStart)
    asOneStep(thread) {
        let error = end == .due ? ownErrors.timedOut : ownErrors.shutDown
        if decide(limited, error, thread) == Stage.created {
            stopObserving(limited.observer, cancelling: true, thread)
        }
        letGo(of: limited, thread)
    }
}

/// The promise was cancelled, or its last reader has gone.
private func stopTimeout(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let limited = timeout(at: UnsafeMutableRawPointer(promise))
    if limited.pointee.stage.exchangeAcquireRelease(Stage.decided) != Stage.created { return }
    stopObserving(limited.observer, cancelling: promise.isCancelled, thread)
    if stopTimer(limited.timer) { letGo(of: limited, thread) }
}

/// Settles with a value (consumed), unless the promise is decided. Returns the stage before.
private func decide(
    _ limited: TimeoutPointer, _ value: vow_value, _ thread: ThreadPointer
) -> UInt64 {
    let before = limited.pointee.stage.exchangeAcquireRelease(Stage.decided)
    if before == Stage.decided
        || !settle(limited.promise, from: .open, value, .lent, thread)
    {
        value.release(thread)
    }
    return before
}

@inline(never)
private func letGo(of limited: TimeoutPointer, _ thread: ThreadPointer) {
    if limited.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    limited.promise.releaseProducer(thread)
}

// MARK: Delays

/// Makes a delay of the program. A delay longer than its scope's limit is rejected at the limit.
/// - Parameter nanoseconds: not negative.
func makeDelay(_ nanoseconds: Int64, _ thread: ThreadPointer) -> RecordPointer {
    if let left = timeLeft(thread), left < nanoseconds {
        return makeDelay(left, TimerNode(missDeadline), thread)
    }
    return makePlainDelay(nanoseconds, thread)
}

/// - Parameter nanoseconds: not negative.
func makePlainDelay(_ nanoseconds: Int64, _ thread: ThreadPointer) -> RecordPointer {
    makeDelay(nanoseconds, TimerNode(fireDelay), thread)
}

private func makeDelay(
    _ nanoseconds: Int64, _ node: TimerNode, _ thread: ThreadPointer
) -> RecordPointer {
    guard let delay = makeProduced(.delay, node, thread, stop: stopDelay) else {
        return promiseWithoutMemory
    }
    let timer = delay.part(TimerNode.self)
    switch startTimer(timer, after: nanoseconds, thread) {
    case .started: delay.producer.pointee.isLeftWithParent = timer.pointee.stripe == processStripe
    case .refused: settleProduced(delay, ownErrors.refusal, thread)
    case .noMemory: settleProduced(delay, ownErrors.noMemory, thread)
    }
    return delay
}

private func fireDelay(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let value = end == .due ? vow_none() : ownErrors.ended
    settleProduced(RecordPointer(ofPart: timer), value, thread)
}

private func missDeadline(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let error = end == .due ? ownErrors.timedOut : ownErrors.shutDown
    settleProduced(RecordPointer(ofPart: timer), error, thread)
}

private func stopDelay(_ delay: RecordPointer, _ thread: ThreadPointer) {
    if stopTimer(delay.part(TimerNode.self)) { delay.releaseProducer(thread) }
}

// MARK: Descriptors

/// The descriptor is open; the events are valid.
func makeDescriptorReady(_ descriptor: Int32, _ events: UInt32, _ thread: ThreadPointer)
    -> RecordPointer
{
    let watch = WatchNode(descriptor, events, fireReady)
    guard let promise = makeProduced(.descriptor, watch, isQuiet: true, thread, stop: stopReady)
    else {
        return promiseWithoutMemory
    }
    let place = promise.part(WatchNode.self)
    switch startWatch(place, thread) {
    case .started:
        promise.producer.pointee.isLeftWithParent = place.pointee.stripe == processStripe
    case .always: settleProduced(promise, vow_int(Int64(events)), thread)
    case .refused: settleProduced(promise, ownErrors.refusal, thread)
    case .noMemory: settleProduced(promise, ownErrors.noMemory, thread)
    }
    return promise
}

private func fireReady(_ watch: WatchPointer, _ events: UInt32, _ thread: ThreadPointer) {
    let end = watch.pointee.isLost ? ownErrors.closed : ownErrors.ended
    let value = events == 0 ? end : vow_int(Int64(events))
    settleQuiet(RecordPointer(ofPart: watch), value, thread)
}

private func stopReady(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let isStopped = stopWatch(promise.part(WatchNode.self), thread)
    if !promise.isCancelled {
        if isStopped { promise.releaseProducer(thread) }
    } else if isStopped {
        settleQuiet(promise, ownErrors.cancelled, thread)
    } else if isForkedChild && promise.producer.pointee.isLeftWithParent {
        // A thread of the parent was about to fire the watch.
        promise.retainProducer()
        settleQuiet(promise, ownErrors.cancelled, thread)
    }
}
