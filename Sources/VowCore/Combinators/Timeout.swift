// vow_timeout: a promise that watches another one and has a timer, in one piece of memory. Who
// decides first stops the other one; while the promise is being made, its maker does.

import CVow

private typealias TimeoutPointer = UnsafeMutablePointer<Timeout>

private struct Timeout: ~Copyable {
    /// Comes first: the observer knows it by this.
    let owner: ObserverOwner
    let stage = AtomicWord(Stage.creating)
    /// The maker, the observer and the timer.
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

/// Gives a promise (consumed) so many nanoseconds, not negative, or what is left of its scope's time.
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

/// There is no timer.
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

/// The promise was cancelled, or nobody reads it any more.
private func stopTimeout(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let limited = timeout(at: UnsafeMutableRawPointer(promise))
    if limited.pointee.stage.exchangeAcquireRelease(Stage.decided) != Stage.created { return }
    stopObserving(limited.observer, cancelling: promise.isCancelled, thread)
    if stopTimer(limited.timer) { letGo(of: limited, thread) }
}

/// Settles with a value (consumed), unless it is decided. Returns the stage before.
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
