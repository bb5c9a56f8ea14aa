// Thenables: a promise resolved with an object that can be subscribed to follows what the object says.

import CVow

/// A claimed promise follows a new one that the object (consumed) will settle. The object is foreign
/// code, so it is asked when inline handlers run, not here. For `hold` see `Hold`.
func followThenable(
    _ object: vow_value, by promise: RecordPointer, _ hold: Hold, _ thread: ThreadPointer
) {
    let shape: Shape = [.link, .subscription]
    guard let memory = takeMemory(shape.recordSize) else {
        follow(promiseWithoutMemory, by: promise, hold, thread)
        object.release(thread)
        return
    }
    let subscription = memory.bindMemory(to: Record.self, capacity: 1)
    // One promise reference for the follower, one producer's for the list of ready work.
    subscription.initialize(to: Record(.open, shape: shape, promises: 1, producers: 1))
    subscription.upstream = nil
    subscription.link.initialize(
        to: LinkPart(handler: nil, context: object.as.pointer, executor: nil))
    count(thread.cell.pointee.counters.promisesMade)
    if isWatched { noteMade(subscription, .subscription) }
    // First, because following may free something whose destructor waits.
    thread.pointee.agenda.ready.append(subscription)
    follow(subscription, by: promise, hold, thread)
}
