// The pool: our own queue of ready reactions, emptied by workers that run on libdispatch's global queue.
// Having the queue here is what lets a waiting worker run the very work that it waits for.
//
// Everything is under one lock that is held for a few instructions. A worker signs off under the lock when
// the queue is empty, and whoever adds sees under the lock how many there are: no reaction is left lying.

import CVow

/// So many workers are sent at most; libdispatch decides how many of them run at once.
private let mostWorkers = 64
/// How deep a wait looks into the queue for what it waits for.
private let searchDepth = 4096
/// How long a stand-in without work stays, in nanoseconds.
private let standInPatience: Int64 = 200_000_000

private struct Pool {
    var queue = MemberList()
    /// Sent or running, not blocked and not idle.
    var workers = 0
    /// Workers that wait inside a handler.
    var blocked = 0
    /// Stand-ins that found no work a moment ago.
    var idle: UnsafeMutablePointer<IdleStandIn>?
}

private let poolLock = SpinLock()
nonisolated(unsafe) private var pool = Pool()

func submitPooled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    let isMine =
        thread.pointee.isAboutToLookForWork && !thread.pointee.owesWorker
        && thread.pointee.foreignDepth == 0
    poolLock.lock()
    pool.queue.append(reaction)
    let reinforcement: Reinforcement = isMine ? .none : claimWorker()
    poolLock.unlock()
    if isMine { thread.pointee.owesWorker = true }
    send(reinforcement)
}

/// The worker that was about to look for work does something else first: another one is sent.
@inline(__always)
func payOwedWorker(_ thread: ThreadPointer) {
    if thread.pointee.owesWorker { sendOwedWorker(thread) }
}

private func sendOwedWorker(_ thread: ThreadPointer) {
    thread.pointee.owesWorker = false
    poolLock.lock()
    let reinforcement: Reinforcement = pool.queue.isEmpty ? .none : claimWorker()
    poolLock.unlock()
    send(reinforcement)
}

// MARK: Workers

private enum Reinforcement {
    case none, worker, standIn
    case idle(UnsafeMutablePointer<IdleStandIn>)
}

/// Under the lock: who is to come to work. Where workers are blocked, libdispatch would make another
/// thread only seconds later, and none beyond 255.
private func claimWorker() -> Reinforcement {
    if pool.workers >= mostWorkers { return .none }
    pool.workers += 1
    if pool.blocked == 0 { return .worker }
    guard let idle = pool.idle else { return .standIn }
    pool.idle = idle.pointee.next
    return .idle(idle)
}

private func send(_ reinforcement: Reinforcement) {
    switch reinforcement {
    case .none: break
    case .worker: WorkQueue.global.submit(nil, work)
    case .standIn: if !startThread(standIn) { WorkQueue.global.submit(nil, work) }
    case .idle(let idle): idle.call()
    }
}

/// What a worker does.
private func work(_: UnsafeMutableRawPointer?) { workUntilNothingIsLeft(currentThread()) }

private func workUntilNothingIsLeft(_ thread: ThreadPointer) {
    withPlace(at: ownExecutors.pool, thread) {
        while let reaction = nextReaction(thread) {
            run(reaction, looksForWorkNext: true, thread)
            leave(thread)
            count(thread.cell.pointee.counters.workEnded)
        }
    }
}

/// Nil: the worker is signed off. In a forked child the queue is a copy of the parent's.
private func nextReaction(_ thread: ThreadPointer) -> RecordPointer? {
    if isForkedChild { return nil }
    thread.pointee.owesWorker = false
    return poolLock.withLock {
        let reaction = pool.queue.popFirst()
        if reaction == nil { pool.workers -= 1 }
        return reaction
    }
}

/// What a thread of our own does.
private func standIn(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let thread = currentThread()
    repeat { workUntilNothingIsLeft(thread) } while isCalledAgain()
    return nil
}

private func isCalledAgain() -> Bool {
    var place = IdleStandIn()
    return withUnsafeMutablePointer(to: &place) { place in
        poolLock.withLock {
            place.pointee.next = pool.idle
            pool.idle = place
        }
        let deadline = Deadline.after(standInPatience)
        while place.pointee.word.loadAcquire() != Parking.done {
            if park(place.pointee.word, at: place, until: deadline) { continue }
            if poolLock.withLock({ removeIdle(place) }) { return false }
        }
        return true
    }
}

/// On the stack of the stand-in; the first word is what it sleeps on.
private struct IdleStandIn: ~Copyable {
    let word = AtomicWord(Parking.awake)
    var next: UnsafeMutablePointer<IdleStandIn>?
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == IdleStandIn {
    /// Signed on by whoever took it off the list; afterwards its memory is gone.
    fileprivate func call() { unparkDone(pointee.word, at: self) }
}

/// Under the lock. False: somebody has taken it off already and is about to call.
private func removeIdle(_ place: UnsafeMutablePointer<IdleStandIn>) -> Bool {
    if pool.idle == place {
        pool.idle = place.pointee.next
        return true
    }
    var other = pool.idle
    while let current = other {
        if current.pointee.next == place {
            current.pointee.next = place.pointee.next
            return true
        }
        other = current.pointee.next
    }
    return false
}

// MARK: Waiting inside the pool

/// Takes a reaction that no worker has begun out of the queue.
func takeFromPool(_ reaction: RecordPointer) -> Bool {
    poolLock.withLock { pool.queue.remove(reaction, within: searchDepth) }
}

/// A worker is going to block: another one takes its place.
func lendPlaceInPool() {
    poolLock.lock()
    pool.blocked += 1
    pool.workers -= 1
    let reinforcement: Reinforcement = pool.queue.isEmpty ? .none : claimWorker()
    poolLock.unlock()
    send(reinforcement)
}

func takePlaceInPoolBack() {
    poolLock.withLock {
        pool.blocked -= 1
        pool.workers += 1
    }
}

/// Rejects what no worker has begun.
func refusePooled(_ thread: ThreadPointer) {
    while let reaction = poolLock.withLock({ pool.queue.popFirst() }) {
        asOneStep(thread) { refuse(reaction, .shutDown, thread) }
        leave(thread)
        count(thread.cell.pointee.counters.workEnded)
    }
}

/// Around a fork.
func lockPool() { poolLock.lock() }
func unlockPool() { poolLock.unlock() }
