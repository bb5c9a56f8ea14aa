// A promise that is fulfilled after a while. Its timer stands in its own memory; being in the heap is one
// producer's reference.

import CVow

/// Of the program's, which takes no longer than its scope: then it is rejected.
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
