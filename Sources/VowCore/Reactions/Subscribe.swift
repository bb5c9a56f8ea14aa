// Thenables: a promise resolved with an object that can be subscribed to follows what the object says.

import CVow

/// Asks the object. What it does with its resolver, now or later, decides about the subscription.
func subscribe(_ subscription: RecordPointer, _ thread: ThreadPointer) {
    guard let context = subscription.link.pointee.context else {
        fatal("a subscription to nothing")
    }
    let object = vow_value(VOW_OBJECT, context)
    guard let box = object.box, let ask = box.cls?.pointee.subscribe
    else { fatal("a subscription to an object that is no thenable") }
    if subscription.pointee.state.read().phase != .open {
        // Cancelled before the object was asked.
        subscription.releaseProducer(thread)
        object.release(thread)
        return
    }
    subscription.retainProducer()
    let isThenable = withFrame(of: subscription, nil, on: ownExecutors.inline, thread) {
        ask(box.part(ObjectPart.self).pointee.pointer, HandleMark.resolver(subscription))
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
