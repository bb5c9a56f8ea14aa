// Who comes to do the pool's work: an idle worker, a new one, or the keeper, who sees whether those that are busy sleep.

import CVow
import CVowPlatform

/// Decided under the pool's lock, made after it.
enum WorkerCall {
    case nobody
    case worker(WorkerPointer)
    /// A thread is to be made, which is counted among the `starting`, and for its duty as busy.
    case newWorker(Duty)
    case keeper
}

extension Pool {
    private mutating func callKeeper() -> WorkerCall {
        if keeper.isWatching { return .nobody }
        keeper.isWatching = true
        return .keeper
    }

    private mutating func callWorker(for duty: Duty) -> WorkerCall {
        if let worker = idle {
            takeIdle(worker)
            worker.pointee.duty = duty
            worker.pointee.isCalled = true
            worker.pointee.begun &+= 1
            countCalled(duty, 1)
            return .worker(worker)
        }
        if workers + starting >= Pool.mostWorkers { return .nobody }
        starting += 1
        countCalled(duty, 1)
        return .newWorker(duty)
    }

    fileprivate mutating func countCalled(_ duty: Duty, _ step: Int) {
        self[duty].busy += step
        self[duty].called += step
    }

    /// At least 2: a handler may spin until another one has said something.
    fileprivate mutating func setWidth() {
        if width == 0 { width = max(2, Int(vow_platform_processors())) }
    }

    /// After work was added or taken, or its place has become free. One call is enough, as who comes calls for more; the
    /// keeper does so only where it can be made, so a worker is called first.
    mutating func callForMore() -> WorkerCall {
        setWidth()
        if mayCall(.events) { return callWorker(for: .events) }
        if mayCall(.reactions) { return callWorker(for: .reactions) }
        if mayCall(.drains) { return callWorker(for: .drains) }
        return hasWaiting(.reactions) || hasWaiting(.drains) ? callKeeper() : .nobody
    }

    private func mayCall(_ duty: Duty) -> Bool { hasMore(duty) && hasRoom(for: duty) }

    /// Whether some of it finds no room, which the keeper may make.
    private func hasWaiting(_ duty: Duty) -> Bool { has(duty) && !hasRoom(for: duty) }

    /// A thread could not be made, and what would have been its work may stand: whoever has become idle meanwhile found
    /// no room. Else the keeper tries again.
    fileprivate mutating func callAfterFailure() -> WorkerCall {
        idle != nil ? callForMore() : hasAny ? callKeeper() : .nobody
    }
}

/// Makes a call. False: the system gives no thread. Then the workers that are there do it, in their time; where there
/// is none, the work is refused.
@inline(__always)
@discardableResult
func make(_ call: WorkerCall, _ thread: ThreadPointer) -> Bool {
    if case .nobody = call { return true }
    return makeIndeed(call, thread)
}

@inline(never)
private func makeIndeed(_ call: WorkerCall, _ thread: ThreadPointer) -> Bool {
    switch call {
    case .nobody: break
    case .worker(let worker): worker.wake()
    case .keeper: _ = callKeeper()
    case .newWorker(let duty): return startWorker(duty, thread)
    }
    return true
}

/// Counted among the `starting` before, and for its duty as busy. False: the system gives no thread.
func startWorker(_ duty: Duty?, _ thread: ThreadPointer) -> Bool {
    if makeWorker(duty) { return true }
    giveUpWorker(duty, thread)
    return false
}

private func makeWorker(_ duty: Duty?) -> Bool {
    if !startWorkerThread(duty) { return false }
    poolLock.withLock {
        pool.starting -= 1
        pool.workers += 1
    }
    return true
}

/// The system gives no thread for a worker.
private func giveUpWorker(_ duty: Duty?, _ thread: ThreadPointer) {
    var isHopeless = false
    let call = poolLock.withLock {
        pool.starting -= 1
        if let duty { pool.countCalled(duty, -1) }
        isHopeless = pool.workers + pool.starting <= pool.blocked
        return isHopeless ? .nobody : pool.callAfterFailure()
    }
    if isHopeless { refuseAllPooled(thread) }
    make(call, thread)
}

/// There is no worker, and the system gives none. Inside the call that handed the work over, and perhaps in the middle of
/// a hand-over: so what becomes ready here, inline handlers too, waits for the end of that.
@inline(never)
private func refuseAllPooled(_ thread: ThreadPointer) {
    thread.pointee.foreignDepth &+= 1
    defer { thread.pointee.foreignDepth &-= 1 }
    refusePooled(.noThread, thread)
    while let executor = poolLock.withLock({ pool.drains.popFirst() }) {
        refuseDrain(executor, .noThread, thread)
    }
}

/// Held while the first worker or the keeper is made: a thread that comes meanwhile waits, and knows then whether they are
/// there. Never held across foreign code, and not taken in a forked child, where another thread may have held it.
let firstThreadsLock = SpinLock()

/// The first worker and the keeper, before there is work: where the system gives no other later, that one does it all.
func prepareWorkers(_ thread: ThreadPointer) {
    // The schedules' scheduler knows its scenario's threads and no others.
    #if !VOW_SCHEDULES
        if hasWorkers || isForkedChild || refusesWork { return }
        let hasFailed = firstThreadsLock.withLock {
            if hasWorkers { return false }
            poolLock.withLock {
                pool.setWidth()
                pool.starting += 1
            }
            if !makeWorker(nil) { return true }
            _ = makeKeeper()
            return false
        }
        if hasFailed { giveUpWorker(nil, thread) }
    #endif
}

/// The library's work in the process has ended: who has nothing more to do ends.
func closePool() {
    // In a child the workers' records are the parent's, on stacks that are anybody's now.
    if isForkedChild { return }
    poolLock.withLock { pool.isClosed = true }
    while let worker = poolLock.withLock({ pool.popIdle() }) { worker.wake() }
    if poolLock.withLock({ pool.keeper.presence != .none }) { _ = callKeeper() }
}

extension Pool {
    fileprivate mutating func popIdle() -> WorkerPointer? {
        guard let worker = idle else { return nil }
        takeIdle(worker)
        return worker
    }
}
