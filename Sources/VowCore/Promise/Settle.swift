// Settling: publish the value, take the queue, hand its members over in order. A loop, not a recursion:
// promises that settle along the way add their members to the thread's list.

import CVow

/// Settles a claimed promise with a value (consumed). With `ownsProducer` the caller's producer
/// reference is consumed too; without, the caller keeps the promise alive until this returns.
@inline(__always)
func settle(
    _ promise: RecordPointer, _ value: vow_value, ownsProducer: Bool, _ thread: ThreadPointer
) {
    promise.value = value
    count(thread.pointee.cell.counters.promisesSettled)
    guard let newest = promise.pointee.state.transitionToSettling() else {
        if ownsProducer { promise.releaseProducer(thread) }
        return
    }
    startHandOver(promise, newest, ownsProducer: ownsProducer, thread)
}

private func startHandOver(
    _ promise: RecordPointer, _ newest: RecordPointer, ownsProducer: Bool, _ thread: ThreadPointer
) {
    if ownsProducer {
        promise.pointee.progress.insert(.drainOwnsProducer)
    } else if thread.pointee.isHandingOver {
        // The loop further up finishes the promise after this call has returned.
        promise.retainProducer()
        promise.pointee.progress.insert(.drainOwnsProducer)
    }
    enqueueBatch(of: promise, newest, thread)
    if !thread.pointee.isHandingOver { handOverAll(thread) }
}

/// Wakes the waiting threads, and puts the other members on the thread's list, oldest first.
private func enqueueBatch(of promise: RecordPointer, _ newest: RecordPointer, _ thread: ThreadPointer) {
    var batch = MemberList()
    var member: RecordPointer? = newest
    while let current = member {
        member = current.next
        if current.pointee.shape.contains(.waiter) { wake(current) } else { batch.prepend(current) }
    }
    guard let last = batch.last else {
        finishHandOver(of: promise, thread)
        return
    }
    last.pointee.progress.insert(.lastOfBatch)
    thread.pointee.handOver.append(batch)
}

private func handOverAll(_ thread: ThreadPointer) {
    thread.pointee.isHandingOver = true
    while let member = thread.pointee.handOver.popFirst() {
        guard let promise = member.upstream else { fatal("a member of a queue reads no promise") }
        let isLast = member.pointee.progress.contains(.lastOfBatch)
        member.pointee.progress.remove(.lastOfBatch)
        handOver(member, promise, thread)
        // The drain's producer reference, or the caller of `settle`, has kept the promise alive.
        if isLast { finishHandOver(of: promise, thread) }
    }
    thread.pointee.isHandingOver = false
}

/// One batch is handed over: take those that came meanwhile, or end the phase.
private func finishHandOver(of promise: RecordPointer, _ thread: ThreadPointer) {
    let inlineAreLeft = promise.pointee.inlineLeft != 0
    // Read before the step: afterwards the promise may be another thread's to free.
    let ownsProducer = promise.pointee.progress.contains(.drainOwnsProducer)
    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else if ownsProducer {
        promise.releaseProducer(thread)
    }
}

@inline(__always)
private func handOver(_ member: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if member.pointee.state.read().phase == .following {
        takeOutcome(member, thread)
    } else if member.handler(rejected: promise.value.isError) == nil {
        passThrough(member, thread)
    } else if member.link.pointee.executor?.pointee.kind == .inline {
        deferInline(member, of: promise, thread)
    } else {
        submit(member, thread)
    }
}

/// Puts an inline reaction on the thread's list; its promise keeps delivering until it has run.
func deferInline(_ member: RecordPointer, of promise: RecordPointer, _ thread: ThreadPointer) {
    promise.pointee.inlineLeft += 1
    member.pointee.progress.insert(.countedInline)
    thread.pointee.ready.append(member)
}

/// An inline reaction has begun and returned (or is about to block): if it was the last one, those that
/// lined up behind it are next, or the phase ends. Only the delivering thread calls this.
func finishDelivery(of member: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if !member.pointee.progress.contains(.countedInline) { return }
    member.pointee.progress.remove(.countedInline)
    promise.pointee.inlineLeft -= 1
    // While it is still settling, `finishHandOver` will see that none is left.
    while promise.pointee.inlineLeft == 0, promise.pointee.state.read().phase == .delivering,
        let late = promise.pointee.state.transitionAfterDelivery()
    {
        var batch = MemberList(reversing: late)
        while let next = batch.popFirst() {
            if next.handler(rejected: promise.value.isError) == nil {
                passThrough(next, thread)
            } else {
                deferInline(next, of: promise, thread)
            }
        }
    }
}
