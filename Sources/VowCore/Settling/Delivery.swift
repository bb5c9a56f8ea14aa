// The inline reactions of a settled promise, which run one after the other on the thread that delivers: when each has
// begun or run, and when the phase ends.

import CVow

/// Puts an inline reaction on the thread's list; its promise keeps delivering until it has run.
func deferInline(_ member: RecordPointer, of promise: RecordPointer, _ thread: ThreadPointer) {
    promise.inlineLeft += 1
    member.passage.insert(.countedInline)
    thread.pointee.agenda.ready.append(member)
}

/// An inline reaction has begun and returned (or is about to block): if it was the last one, those that
/// lined up behind it are next, or the phase ends. Only the delivering thread calls this.
func finishDelivery(of member: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    let delivery = member.takeDelivery()
    if delivery.contains(.countedInline) {
        promise.inlineLeft -= 1
        if promise.inlineLeft == 0 {
            let owed = thread.pointee.owedReads.take(of: promise)
            if owed > 0 { promise.giveBack(owed, thread) }
        }
        deliverLateOnes(of: promise, thread)
    }
    if delivery.contains(.holdsProducer) { promise.releaseProducer(thread) }
}

/// The same for one that has returned and is settled, with its reference to the promise; `delivery` is what
/// `takeDelivery` gave.
@inline(__always)
func endReading(_ promise: RecordPointer, _ delivery: Passage, _ thread: ThreadPointer) {
    if !delivery.contains(.countedInline) {
        promise.giveBack(delivery.references, thread)
        return
    }
    promise.inlineLeft &-= 1
    if promise.inlineLeft != 0 {
        // The next of them keeps it, and the last gives all back.
        oweRead(of: promise, thread)
        return
    }
    let mine = delivery.references &+ thread.pointee.owedReads.take(of: promise)
    if promise.pointee.counts.loadAcquire() == mine {
        // Nobody else is left who could register, or read the phase.
        promise.pointee.state.close()
        reclaim(promise, thread)
    } else {
        endDelivery(of: promise, mine, thread)
    }
}

/// The last inline reaction has run: those that lined up behind it are next, or the phase ends.
@inline(never)
private func endDelivery(of promise: RecordPointer, _ mine: UInt64, _ thread: ThreadPointer) {
    asOneStep(thread) { deliverLateOnes(of: promise, thread) }
    promise.giveBack(mine, thread)
}

extension Passage {
    /// What a reaction that is through has of the promise that it has read.
    @inline(__always)
    fileprivate var references: UInt64 {
        contains(.holdsProducer) ? Counts.oneProducer + Counts.oneReader : Counts.oneReader
    }
}

@inline(__always)
private func oweRead(of promise: RecordPointer, _ thread: ThreadPointer) {
    if let other = thread.pointee.owedReads.add(promise) {
        other.promise.giveBack(other.count, thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// What a member has of the delivery of its promise, and has no more.
    @inline(__always)
    func takeDelivery() -> Passage {
        let delivery = passage.intersection(.ofDelivery)
        passage.subtract(delivery)
        return delivery
    }
}

@inline(never)
private func deliverLateOnes(of promise: RecordPointer, _ thread: ThreadPointer) {
    // While it is still settling, `finishHandOver` will see that none is left.
    while promise.inlineLeft == 0, promise.pointee.state.read().phase == .delivering,
        let late = promise.pointee.state.transitionAfterDelivery()
    {
        // Counted as one of them until all are on the list.
        promise.inlineLeft += 1
        let isRejected = promise.value.isError
        var batch = SlotList(reversing: late)
        while let next = batch.popFirst() {
            next.markOut()
            if next.handles(rejected: isRejected) {
                deferInline(next, of: promise, thread)
            } else {
                passThrough(next, thread)
            }
        }
        promise.inlineLeft -= 1
    }
}
