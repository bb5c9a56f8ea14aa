// Waiting inside the pool: a worker lends its place while it sleeps, or runs what it waits for itself.

import CVow

/// How deep a wait looks into the queue for what it waits for.
private let searchDepth = 4096

/// Takes a reaction that no worker has begun out of the queue.
func takeFromPool(_ reaction: RecordPointer) -> Bool {
    poolLock.withLock { pool.reactions.remove(reaction, within: searchDepth) }
}

/// A worker is going to sleep. One must remain that does not wait, since what all wait for may stand in the queue:
/// false, and it must not sleep, where it would be the last one and the system gives no other.
func lendPlaceInPool(_ worker: WorkerPointer, _ thread: ThreadPointer) -> Bool {
    while true {
        poolLock.lock()
        if worker.pointee.isBlocked || pool.workers - pool.blocked >= 2 {
            pool.block(worker)
            let call = pool.callForMore()
            poolLock.unlock()
            make(call, thread)
            return true
        }
        let isTooMany = pool.workers + pool.starting >= Pool.mostWorkers
        if !isTooMany { pool.starting += 1 }
        poolLock.unlock()
        if isTooMany || !startWorker(nil, thread) { return false }
    }
}

func takePlaceInPoolBack(_ worker: WorkerPointer) {
    poolLock.withLock { pool.unblock(worker) }
}

extension Pool {
    fileprivate mutating func block(_ worker: WorkerPointer) {
        worker.pointee.waits += 1
        if worker.pointee.waits > 1 { return }
        blocked += 1
        if let duty = worker.pointee.duty { self[duty].busy -= 1 }
    }

    fileprivate mutating func unblock(_ worker: WorkerPointer) {
        worker.pointee.waits -= 1
        if worker.pointee.isBlocked { return }
        blocked -= 1
        worker.pointee.begun &+= 1
        if let duty = worker.pointee.duty { self[duty].busy += 1 }
    }
}
