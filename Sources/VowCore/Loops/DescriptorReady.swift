// A promise that is fulfilled when a descriptor is ready. Its watch stands in its own memory; being in the table
// is one producer's reference.

import CVow

/// The descriptor is open; the events are valid.
func makeDescriptorReady(_ descriptor: Int32, _ events: UInt32, _ thread: ThreadPointer)
    -> RecordPointer
{
    let watch = WatchNode(descriptor, events, fireReady)
    guard let promise = makeProduced(.descriptor, watch, thread, stop: stopReady) else {
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
    let end = watch.pointee.isLost ? ownErrors.closed : ownErrors.shutDown
    let value = events == 0 ? end : vow_int(Int64(events))
    settleProduced(RecordPointer(ofPart: watch), value, thread)
}

private func stopReady(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if stopWatch(promise.part(WatchNode.self), thread) { promise.releaseProducer(thread) }
}
