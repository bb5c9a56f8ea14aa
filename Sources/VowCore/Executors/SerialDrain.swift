// Serial executors: reactions gather in the executor's queue, and one drain runs them in order. A drain is a piece of the
// pool's work, or a dispatch where the executor stands on a queue of the program.
//
//   intake   any thread pushes, by one compare-and-exchange; bit 0: a drain is on its way
//   batch    only the drain touches it
//
// The push that sets bit 0 sends the drain, so at most one drain exists. The drain clears bit 0 only together with finding the
// intake empty, in one compare-and-exchange. That step releases and the next push acquires: one drain's use of `batch`
// happens before the next one's. After its push a thread touches neither the reaction nor the executor, unless the push sends
// the drain: the last reaction may have run and freed both.

import CVow

private let drainIsComing: UInt64 = 1
/// A drain runs this many handlers, and then goes to the end of its queue.
private let turn = 1024

func submitSerial(_ reaction: RecordPointer, _ executor: ExecutorPointer, _ thread: ThreadPointer) {
    if thread.pointee.place?.pointee.executor == executor {
        // This thread is the drain: no hop. Reactions that were pushed before go first.
        count(thread.cell.pointee.counters.workGiven)
        takeIntake(executor)
        executor.batch.pointee.append(reaction)
    } else {
        submitSerial(reaction, executor, thread) { nil }
    }
}

/// Pushes a reaction and the reactions that `next` returns after it, in one step. The calling thread is not the drain.
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
        // Sequentially consistent, like the look of `nudgeWaitingThreads`.
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
    } else if executor == ownExecutors.main, let queue = WorkQueue.main {
        queue.submit(executor, drainOnQueue)
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

/// Runs the queued reactions for one turn, and sends the next drain for the rest.
func drain(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    var left = turn
    withPlace(at: executor, thread) {
        while left > 0 || isForkedChild, let reaction = nextOfDrain(executor) {
            left -= 1
            if isForkedChild {
                // A handler of this drain has forked. The parent runs the rest.
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

func refuseDrain(_ executor: ExecutorPointer, _ refusal: Refusal, _ thread: ThreadPointer) {
    withPlace(at: executor, thread) {
        while let reaction = nextOfDrain(executor) { refuseWholly(reaction, refusal, thread) }
    }
    executor.release(thread)
    leave(thread)
}

/// Returns nil once the queue is empty; the next push sends another drain.
@inline(__always)
private func nextOfDrain(_ executor: ExecutorPointer) -> RecordPointer? {
    while true {
        takeIntake(executor)
        if let reaction = executor.batch.pointee.popFirst() { return reaction }
        if executor.pointee.intake.replaceAcquireRelease(drainIsComing, 0).exchanged { return nil }
    }
}
