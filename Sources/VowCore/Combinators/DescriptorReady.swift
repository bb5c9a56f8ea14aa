// A promise that is fulfilled when a descriptor is ready. Its watch stands in its own memory; being in the table
// is one producer's reference.
//
// Cancelled, it is rejected when the watch has ended, and not before: whoever sees it settled may close the descriptor, on
// another thread than the one that cancels.

import CVow

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
        // A thread of the parent was about to fire it.
        promise.retainProducer()
        settleQuiet(promise, ownErrors.cancelled, thread)
    }
}
