// Blocking until a promise settles.
//
// The waiting thread puts a record of its own, on its stack, into the promise's queue, so waiting
// allocates nothing. Whoever settles the promise publishes the value first and then wakes it.

import CVow

enum WaitResult {
    case settled, timedOut, deadlock, forked
}

/// Waits until a promise (borrowed) is settled.
func wait(for promise: RecordPointer, until deadline: Deadline, _ thread: ThreadPointer) -> WaitResult {
    if promise.pointee.state.read().hasValue { return .settled }
    if thread.pointee.foreignDepth > 0 { runWhatOnlyThisThreadCan(thread) }
    let place = WaitingPlace(thread)
    defer { place.leave(thread) }
    return withUnsafeTemporaryAllocation(byteCount: MemoryLayout<Record>.stride, alignment: 16) { memory in
        guard let waiter = memory.baseAddress?.bindMemory(to: Record.self, capacity: 1) else {
            fatal("no stack for a waiting thread")
        }
        waiter.initialize(to: Record(.open, shape: .waiter, promises: Parking.awake, producers: 0))
        if promise.pointee.state.enlist(waiter, while: .ofWaiters) != nil { return .settled }
        return place.beingWatched(by: waiter) {
            sleep(waiter, in: promise, until: deadline, place, thread)
        }
    }
}

private func sleep(
    _ waiter: RecordPointer, in promise: RecordPointer, until deadline: Deadline,
    _ place: borrowing WaitingPlace, _ thread: ThreadPointer
) -> WaitResult {
    while waiter.pointee.counts.loadAcquire() != Parking.done {
        switch place.lookAhead(from: promise, thread) {
        case .deadlock: return withdraw(waiter, from: promise) ? .deadlock : .settled
        case .forked: return withdraw(waiter, from: promise) ? .forked : .settled
        case .runnable(let reaction):
            runNested(reaction, thread)
            continue
        case .blocked: break
        }
        if place.isInPool, let other = lendPlaceInPool(canRunOther: place.hasStackLeft()) {
            runNested(other, thread)
            continue
        }
        let inTime = park(waiter.pointee.counts, at: waiter.parkingAddress, until: deadline)
        if place.isInPool { takePlaceInPoolBack() }
        if !inTime { return withdraw(waiter, from: promise) ? .timedOut : .settled }
    }
    return .settled
}

/// Wakes a waiting thread, whose record must not be touched afterwards.
func wake(_ waiter: RecordPointer) {
    unparkDone(waiter.pointee.counts, at: waiter.parkingAddress)
}

/// Takes the waiter out of the queue. False when somebody else has taken it: then the promise has
/// settled, and this returns when that thread does not need the waiter's memory any more.
private func withdraw(_ waiter: RecordPointer, from promise: RecordPointer) -> Bool {
    let word = promise.pointee.state.lock()
    var before: RecordPointer?
    var member = word.head
    while let current = member, current != waiter {
        before = current
        member = current.next
    }
    var head = word.head
    if member != nil {
        if let before { before.next = waiter.next } else { head = waiter.next }
    }
    promise.pointee.state.unlock(word.phase, head)
    if member != nil { return true }
    var pause = Backoff()
    while waiter.pointee.counts.loadAcquire() != Parking.done { pause.wait() }
    return false
}

/// Inline reactions of this thread would wait for the handler that is about to block, and others behind
/// them: they run now, inside it. Those that ran before them have begun, so the order holds.
private func runWhatOnlyThisThreadCan(_ thread: ThreadPointer) {
    releaseSuccessor(thread)
    var frame = thread.pointee.frame
    while let current = frame {
        let reaction = current.pointee.reaction
        if let promise = reaction.upstream { finishDelivery(of: reaction, promise, thread) }
        frame = current.pointee.outer
    }
    runReady(thread)
}

/// Runs a reaction inside the handler that waits, and what became ready by it on this thread.
private func runNested(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    run(reaction, thread)
    runReady(thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a waiter: makes its thread look again.
    func nudge() { unparkToLook(pointee.counts, at: parkingAddress) }

    /// Of a waiter: its count is the parking word. Little-endian, so the low half comes first.
    fileprivate var parkingAddress: UnsafeRawPointer {
        UnsafeRawPointer(self) + MemoryLayout<UInt64>.size
    }
}
