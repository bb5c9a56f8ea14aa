// A worker of the pool: a thread of our own, from its first piece of work to its last.

import CVow
import CVowPlatform

/// How long one that is not needed stays without work, in nanoseconds.
private let patience: Int64 = 200_000_000

/// Whether there has been a worker: a pool that is not closed keeps some.
var hasWorkers: Bool { workersMark.isSet }
private let workersMark = AtomicMark()

/// False: the system gives no thread.
func startWorkerThread(_ duty: Duty?) -> Bool {
    if !startThread(workerMain, contextOf(duty)) { return false }
    workersMark.set()
    return true
}

private func contextOf(_ duty: Duty?) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: duty.map { $0.rawValue + 1 } ?? 0)
}

private func dutyOf(_ context: UnsafeMutableRawPointer?) -> Duty? {
    Duty(rawValue: Int(bitPattern: context) - 1)
}

private func workerMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    vow_platform_name_thread("vow worker")
    let thread = currentThread()
    var worker = Worker(dutyOf(context))
    withUnsafeMutablePointer(to: &worker) { worker in
        thread.pointee.worker = worker
        poolLock.withLock { pool.enter(worker) }
        vow_platform_run_guarded(work, isLost, worker)
        thread.pointee.worker = nil
    }
    return nil
}

private func work(_ context: UnsafeMutableRawPointer?) {
    guard let worker = context?.assumingMemoryBound(to: Worker.self) else { return }
    let thread = currentThread()
    repeat { workUntilNothingIsLeft(worker, thread) } while isCalledAgain(worker, thread)
}

/// A handler has left by `pthread_exit`: what it was doing stays undone, but the pool has its place back.
private func isLost(_ context: UnsafeMutableRawPointer?) {
    guard !isForkedChild, let worker = context?.assumingMemoryBound(to: Worker.self) else { return }
    let thread = currentThread()
    thread.pointee.worker = nil
    let call = poolLock.withLock {
        pool.lose(worker)
        return pool.callForMore()
    }
    make(call, thread)
}

/// In a forked child the pool is a copy of the parent's: who has forked in a handler ends after it.
private func workUntilNothingIsLeft(_ worker: WorkerPointer, _ thread: ThreadPointer) {
    while !isForkedChild, let work = nextWork(worker, thread) {
        switch work {
        case .reaction(let reaction):
            withPlace(at: ownExecutors.pool, thread) {
                perform(reaction, looksForWorkNext: true, thread)
                leave(thread)
            }
            count(thread.cell.pointee.counters.workEnded)
        case .drain(let executor):
            drain(executor, thread)
        case .event(.clock): fireProcessTimers(thread)
        case .event: fireProcessWatches(thread)
        }
    }
}

/// Sleeps. False: it has left, since it is not needed.
private func isCalledAgain(_ worker: WorkerPointer, _ thread: ThreadPointer) -> Bool {
    if isForkedChild { return false }
    var deadline = Deadline.after(patience)
    while worker.pointee.word.loadAcquire() != Parking.done {
        if park(worker.pointee.word, at: worker.pointee.word.address, until: deadline) { continue }
        // Who has been taken from the idle ones stays: whoever has taken it is about to wake it.
        if poolLock.withLock({ worker.pointee.isIdle && pool.leave(worker) }) { return false }
        deadline = .never
    }
    worker.pointee.word.storeRelaxed(Parking.awake)
    // Work that came when it was taken from the idle ones counted on it, where the system gave no other.
    return !poolLock.withLock { pool.isClosed && !pool.hasAny && pool.leave(worker) }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Worker {
    /// After it was taken from the idle ones. It may end before this returns: its address is only named then.
    func wake() { unparkDone(pointee.word, at: pointee.word.address) }
}

// MARK: Under the lock

extension Worker {
    /// Its place is lent.
    var isBlocked: Bool { waits > 0 }
}

extension Pool {
    mutating func enter(_ worker: WorkerPointer) {
        worker.pointee.next = all
        all?.pointee.previous = worker
        all = worker
    }

    mutating func makeIdle(_ worker: WorkerPointer) {
        worker.pointee.isIdle = true
        worker.pointee.nextIdle = idle
        idle = worker
    }

    mutating func takeIdle(_ worker: WorkerPointer) {
        worker.pointee.isIdle = false
        if idle == worker {
            idle = worker.pointee.nextIdle
            return
        }
        var other = idle
        while let current = other {
            if current.pointee.nextIdle == worker {
                current.pointee.nextIdle = worker.pointee.nextIdle
                return
            }
            other = current.pointee.nextIdle
        }
    }

    /// False: it is needed, or was called meanwhile. What remains is enough for both kinds of work.
    mutating func leave(_ worker: WorkerPointer) -> Bool {
        let isNeeded = !isClosed && workers - blocked <= 2 * width
        if isNeeded || worker.pointee.duty != nil { return false }
        if worker.pointee.isIdle { takeIdle(worker) }
        remove(worker)
        return true
    }

    fileprivate mutating func lose(_ worker: WorkerPointer) {
        if worker.pointee.isBlocked {
            blocked -= 1
        } else {
            _ = takeDuty(of: worker)
        }
        remove(worker)
    }

    private mutating func remove(_ worker: WorkerPointer) {
        worker.pointee.previous?.pointee.next = worker.pointee.next
        worker.pointee.next?.pointee.previous = worker.pointee.previous
        if all == worker { all = worker.pointee.next }
        workers -= 1
    }
}
