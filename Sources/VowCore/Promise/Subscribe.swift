// Thenables: a promise resolved with an object that can be subscribed to follows what the object says.

import CVow

extension vow_value {
    var isThenable: Bool {
        guard kind == VOW_OBJECT, let box else { return false }
        return box.part(ObjectPart.self).pointee.cls?.pointee.subscribe != nil
    }
}

/// A claimed promise follows a new one that the object (consumed) will settle. The object is foreign
/// code, so it is asked when inline handlers run, not here. For `ownsProducer` see `settle`.
func followThenable(
    _ object: vow_value, by promise: RecordPointer, ownsProducer: Bool, _ thread: ThreadPointer
) {
    let shape: Shape = [.link, .subscription]
    guard let memory = takeMemory(shape.recordSize) else {
        follow(promiseWithoutMemory, by: promise, ownsProducer: ownsProducer, thread)
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
    thread.pointee.ready.append(subscription)
    follow(subscription, by: promise, ownsProducer: ownsProducer, thread)
}

/// Asks the object. What it does with its resolver, now or later, decides about the subscription.
func subscribe(_ subscription: RecordPointer, _ thread: ThreadPointer) {
    guard let context = subscription.link.pointee.context else {
        fatal("a subscription to nothing")
    }
    let object = vow_value(VOW_OBJECT, context)
    guard let part = object.box?.part(ObjectPart.self).pointee,
        let ask = part.cls?.pointee.subscribe
    else { fatal("a subscription to an object that is no thenable") }
    if subscription.pointee.state.read().phase != .open {
        // Cancelled before the object was asked.
        subscription.releaseProducer(thread)
        object.release(thread)
        return
    }
    subscription.retainProducer()
    let isThenable = withFrame(of: subscription, nil, on: ownExecutors.inline, thread) {
        ask(part.pointer, HandleMark.resolver(subscription))
    }
    if !isThenable
        && settle(subscription, whileIn: .open, object, ownsProducer: true, thread)
    {
        return
    }
    // First, because the object's destructor might wait for what is broken here.
    subscription.releaseResolver(thread)
    object.release(thread)
}
