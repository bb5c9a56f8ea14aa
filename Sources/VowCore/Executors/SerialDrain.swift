// Serial executors: reactions gather in the executor's own queue, and one piece of the pool's work, or one dispatch, drains
// it.
//
//   intake   anybody pushes (one compare-and-exchange); bit 0 says that a drain is on its way
//   batch    the drain alone; at most one drain exists, because only the push that sets bit 0 sends one
//
// The step that clears bit 0 releases and the push that sets it again acquires, so one drain's use of
// `batch` happens before the next one's.

import CVow

private let drainIsComing: UInt64 = 1
/// How many handlers run before other work of the queue gets its turn.
private let turn = 1024

func submitSerial(_ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer) {
    if thread.pointee.place?.pointee.executor == executor {
        // This thread is the drain: no hop. Those that were pushed before go first.
        count(thread.cell.pointee.counters.workGiven)
        takeIntake(executor)
        executor.batch.pointee.append(reaction)
    } else {
        submitSerial(reaction, executor, thread) { nil }
    }
}

/// The same for a reaction and those that `next` gives after it, in one push, by a thread that is not the drain.
func submitSerial(
    _ oldest: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer,
    next: () -> RecordPointer?
) {
    var newest = oldest
    var pushed = 1
    while let reaction = next() {
        reaction.lane = newest
        newest = reaction
        pushed += 1
    }
    count(thread.cell.pointee.counters.workGiven, pushed)
    while true {
        let old = executor.pointee.intake.loadRelaxed()
        oldest.lane = RecordPointer(bitPattern: UInt(old & ~drainIsComing))
        let new = UInt64(UInt(bitPattern: newest)) | drainIsComing
        // In the single order with the look below: see `nudgeWaitingThreads`. Afterwards the executor
        // may be gone, unless this push is the one that sends the drain.
        if executor.pointee.intake.replaceOrdered(old, new).exchanged {
            if old & drainIsComing == 0 {
                executor.retain()
                sendDrain(executor, thread)
            }
            break
        }
    }
    nudgeWaitingThreads(blocking: executor)
}

private func sendDrain(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    if let queue = executor.pointee.queue {
        queue.submit(executor, drainOnQueue)
    } else if executor == ownExecutors.main {
        WorkQueue.main.submit(executor, drainOnQueue)
    } else {
        submitDrain(of: executor, thread)
    }
}

private func drainOnQueue(_ context: UnsafeMutableRawPointer?) {
    guard let executor = context?.assumingMemoryBound(to: ExecutorRecord.self) else { return }
    drain(executor, currentThread())
}

@inline(__always)
func takeIntake(_ executor: ExecutorPointer) {
    if executor.pointee.intake.loadRelaxed() & ~drainIsComing == 0 { return }
    let taken = executor.pointee.intake.exchangeAcquireRelease(drainIsComing)
    executor.batch.pointee.append(
        MemberList(reversing: RecordPointer(bitPattern: UInt(taken & ~drainIsComing))))
}

/// Runs what stands in the queue, for a turn; the rest is the next drain's.
func drain(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    var left = turn
    withPlace(at: executor, thread) {
        while left > 0 || isForkedChild, let reaction = nextOfDrain(executor) {
            left -= 1
            if isForkedChild {
                // One of its handlers has done that. The rest is run in the parent.
                refuseWholly(reaction, .forked, thread)
                continue
            }
            perform(reaction, thread)
            leave(thread)
            count(thread.cell.pointee.counters.workEnded)
        }
    }
    if left <= 0 && !isForkedChild {
        sendDrain(executor, thread)
    } else {
        executor.release(thread)
    }
    leave(thread)
}

/// Nothing of it can be run.
func refuseDrain(_ executor: ExecutorPointer, _ refusal: Refusal, _ thread: ThreadPointer) {
    withPlace(at: executor, thread) {
        while let reaction = nextOfDrain(executor) { refuseWholly(reaction, refusal, thread) }
    }
    executor.release(thread)
    leave(thread)
}

/// Nil: the queue is empty, and the next push sends another drain.
@inline(__always)
private func nextOfDrain(_ executor: ExecutorPointer) -> RecordPointer? {
    while true {
        takeIntake(executor)
        if let reaction = executor.batch.pointee.popFirst() { return reaction }
        if executor.pointee.intake.replaceAcquireRelease(drainIsComing, 0).exchanged { return nil }
    }
}
