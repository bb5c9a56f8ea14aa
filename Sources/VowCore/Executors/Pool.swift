// The pool: our own queue of ready reactions, emptied by workers that run on libdispatch's global queue.
// Having the queue here is what lets a waiting worker run the very work that it waits for.
//
// Everything is under one lock that is held for a few instructions. A worker leaves under the lock when
// the queue is empty, and whoever adds sees under the lock how many there are: no wake-up is missed.

import CVow

/// So many workers are sent at most; libdispatch decides how many of them run at once.
private let mostWorkers = 64
/// So many blocked workers are replaced by threads of our own; beyond, a waiting worker takes any work.
private let mostStandIns = 4096
/// So many reactions in a row may stay on the worker whose handler made them ready.
private let longestRow = 64
/// How deep a wait looks into the queue for what it waits for.
private let searchDepth = 4096

private struct Pool {
    var queue = MemberList()
    /// Sent or running, not blocked.
    var workers = 0
    var blocked = 0
}

private let poolLock = SpinLock()
nonisolated(unsafe) private var pool = Pool()

func submitPooled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    if thread.pointee.mayKeepSuccessor, thread.pointee.successor == nil,
        thread.pointee.successorsInARow < longestRow, isQueueEmpty()
    {
        // The handler before it has returned; nothing else is waiting that it could overtake.
        thread.pointee.successor = reaction
        thread.pointee.successorsInARow += 1
        return
    }
    enqueue(reaction)
}

/// Gives a reaction that stayed on this thread to the other workers.
func releaseSuccessor(_ thread: ThreadPointer) {
    guard let successor = thread.pointee.successor else { return }
    thread.pointee.successor = nil
    enqueue(successor)
}

private func isQueueEmpty() -> Bool { poolLock.withLock { pool.queue.isEmpty } }

private func enqueue(_ reaction: RecordPointer) {
    poolLock.lock()
    pool.queue.append(reaction)
    let reinforcement = claimWorker()
    poolLock.unlock()
    send(reinforcement)
}

private enum Reinforcement {
    case none, worker, standIn
}

/// Under the lock: whether one more worker is needed.
private func claimWorker() -> Reinforcement {
    if pool.workers >= mostWorkers { return .none }
    pool.workers += 1
    return pool.blocked > 0 ? .standIn : .worker
}

private func send(_ reinforcement: Reinforcement) {
    if reinforcement == .none { return }
    let isStandIn = reinforcement == .standIn
    if isStandIn && startThread({ _ in work(nil); return nil }) { return }
    WorkQueue.global.submit(nil, work)
}

/// What a worker does.
private func work(_: UnsafeMutableRawPointer?) {
    let thread = currentThread()
    while let reaction = nextReaction(thread) {
        run(reaction, keepsSuccessor: true, thread)
        leave(thread)
    }
}

/// Nil: the worker is signed off.
private func nextReaction(_ thread: ThreadPointer) -> RecordPointer? {
    if let successor = thread.pointee.successor {
        thread.pointee.successor = nil
        return successor
    }
    thread.pointee.successorsInARow = 0
    return poolLock.withLock {
        let reaction = pool.queue.popFirst()
        if reaction == nil { pool.workers -= 1 }
        return reaction
    }
}

// MARK: Waiting inside the pool

/// Takes a reaction that no worker has begun out of the queue.
func takeFromPool(_ reaction: RecordPointer) -> Bool {
    poolLock.withLock { pool.queue.remove(reaction, within: searchDepth) }
}

/// A worker is going to block. It lends its place to another one; or, where too many have done so, it
/// gets some other reaction to run instead, if it can run one.
func lendPlaceInPool(canRunOther: Bool) -> RecordPointer? {
    poolLock.lock()
    if canRunOther, pool.blocked >= mostStandIns, let reaction = pool.queue.popFirst() {
        poolLock.unlock()
        return reaction
    }
    pool.blocked += 1
    pool.workers -= 1
    let reinforcement = pool.queue.isEmpty ? .none : claimWorker()
    poolLock.unlock()
    send(reinforcement)
    return nil
}

func takePlaceInPoolBack() {
    poolLock.withLock {
        pool.blocked -= 1
        pool.workers += 1
    }
}
