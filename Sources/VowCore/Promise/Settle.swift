// Settling: publish the value, take the queue, hand its members over in order. A loop, not a recursion:
// promises that settle along the way add their members to the thread's list.

import CVow

/// Settles a claimed promise with a value (consumed). With `ownsProducer` the caller's producer
/// reference is consumed too; without, the promise must live until its value is published, and no longer.
@inline(__always)
func settle(
    _ promise: RecordPointer, _ value: vow_value, ownsProducer: Bool, _ thread: ThreadPointer
) {
    promise.value = value
    count(thread.cell.pointee.counters.promisesSettled)
    var ownsProducer = ownsProducer
    let newest = promise.pointee.state.transitionToSettling {
        // Somebody who waits may give the resolver back, whoever still uses it, as soon as it is woken.
        if !ownsProducer { promise.retainProducer() }
        ownsProducer = true
    }
    if let newest {
        asOneStep(thread) { enqueueBatch(of: promise, newest, thread) }
    } else if ownsProducer {
        promise.releaseProducer(thread)
    }
}

/// Has `body` done before anything that could call foreign code: hand-overs, contexts to destroy, objects to
/// free. They might wait for what `body` has begun.
@inline(__always)
func asOneStep(_ thread: ThreadPointer, _ body: () -> Void) {
    if thread.pointee.isHandingOver {
        body()
        return
    }
    thread.pointee.isHandingOver = true
    body()
    handOverAll(thread)
    thread.pointee.isHandingOver = false
    finishHandingOver(thread)
}

/// Wakes the waiting threads, and puts the other members on the thread's list, oldest first.
private func enqueueBatch(
    of promise: RecordPointer, _ newest: RecordPointer, _ thread: ThreadPointer
) {
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
    last.progress.insert(.lastOfBatch)
    thread.pointee.handOver.append(batch)
}

/// Also nested, from a wait inside an executor's `submit`.
func handOverAll(_ thread: ThreadPointer) {
    let outer = thread.pointee.isHandingOver
    thread.pointee.isHandingOver = true
    finishLastBatch(thread)
    while let member = thread.pointee.handOver.popFirst() {
        guard let promise = member.upstream else { fatal("a member of a queue reads no promise") }
        if member.progress.contains(.lastOfBatch) {
            member.progress.remove(.lastOfBatch)
            thread.pointee.handedOver = promise
        }
        handOver(member, promise, thread)
        finishLastBatch(thread)
    }
    thread.pointee.isHandingOver = outer
}

/// The promise whose last member was just handed over, or, in a wait inside that member's `submit`, is being
/// handed over. The hand-over's producer reference has kept it alive.
private func finishLastBatch(_ thread: ThreadPointer) {
    guard let promise = thread.pointee.handedOver else { return }
    thread.pointee.handedOver = nil
    finishHandOver(of: promise, thread)
}

/// What had to wait for the end of the hand-over, because it is foreign code that may wait for a member:
/// contexts to destroy, objects to free.
func finishHandingOver(_ thread: ThreadPointer) {
    if !thread.pointee.isSkipping { finishSkipped(thread) }
    if thread.pointee.dead != 0 { reclaimUnlessBusy(thread) }
}

/// One batch is handed over: take those that came meanwhile, or end the phase.
private func finishHandOver(of promise: RecordPointer, _ thread: ThreadPointer) {
    let inlineAreLeft = promise.inlineLeft != 0
    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
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
    promise.inlineLeft += 1
    member.progress.insert(.countedInline)
    thread.pointee.ready.append(member)
}

/// An inline reaction has begun and returned (or is about to block): if it was the last one, those that
/// lined up behind it are next, or the phase ends. Only the delivering thread calls this.
func finishDelivery(of member: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    if !member.progress.contains(.countedInline) { return }
    member.progress.remove(.countedInline)
    promise.inlineLeft -= 1
    // While it is still settling, `finishHandOver` will see that none is left.
    while promise.inlineLeft == 0, promise.pointee.state.read().phase == .delivering,
        let late = promise.pointee.state.transitionAfterDelivery()
    {
        // Counted as one of them until all are on the list.
        promise.inlineLeft += 1
        var batch = MemberList(reversing: late)
        while let next = batch.popFirst() {
            if next.handler(rejected: promise.value.isError) == nil {
                passThrough(next, thread)
            } else {
                deferInline(next, of: promise, thread)
            }
        }
        promise.inlineLeft -= 1
    }
}
