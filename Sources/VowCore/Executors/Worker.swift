// The threads of the pool: workers, the calls that make a worker come, and the keeper. Pool.swift has the rules.
//
// The keeper is a thread that does no work, so nothing holds it up. It is the alarm of the process's clock. While work waits
// for room, the keeper looks every 10 ms for busy workers that have begun nothing and had next to no processor time since the
// last look: they sleep, in a system call or on a lock of the program's. Such a worker takes up no room, so another one begins.
// This is a guess: a worker that gets no processor on a busy machine looks the same, and costs a thread too many for a while.
// Up to 256 sleepers of each kind are made up for. If more handlers than these and the width sleep until another handler acts,
// they wait for ever, as in any bounded pool; waiting in `vow_await` has no such bound.
//
// A worker cannot be cancelled. A handler that calls `pthread_exit` ends the process (docs/decisions/0017); after
// `vow_shutdown`, where it may, a cleanup handler (`vow_platform_run_guarded`) gives the worker's place and record back
// while the stack frame of the record still stands.
//
// A fork holds the pool's lock. The child has no worker, and the workers' records lie on the parent's stacks: so the child
// touches none of the lists, `vow_shutdown` neither, and refuses work.

import CVow
import CVowPlatform

/// Nanoseconds without work after which a worker that is not needed ends.
private let patience: Int64 = 200_000_000

/// Whether there has been a worker: a pool that is not closed keeps some workers.
var hasWorkers: Bool { workersMark.isSet }
private let workersMark = AtomicMark()

/// Returns false if the system gives no thread.
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

/// Gives the place of a worker back whose handler has called `pthread_exit`. The handler's work stays undone.
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

/// In a forked child the pool is a copy of the parent's: the forking handler's worker ends after it.
private func workUntilNothingIsLeft(_ worker: WorkerPointer, _ thread: ThreadPointer) {
    while !isForkedChild, let work = nextWork(worker, thread) {
        switch work {
        case .reaction(let reaction): runPooled(reaction, looksForWorkNext: true, thread)
        case .drain(let executor) where executor == ownExecutors.main:
            // The process had no libdispatch when the work came. It may have loaded one since, whose main queue is not here.
            refuseDrain(executor, .shutDown, thread)
        case .drain(let executor):
            drain(executor, thread)
        case .event(.clock): fireProcessTimers(thread)
        case .event: fireProcessWatches(thread)
        }
    }
}

/// Sleeps until the worker is called. Returns false if it has left because it is not needed.
private func isCalledAgain(_ worker: WorkerPointer, _ thread: ThreadPointer) -> Bool {
    if isForkedChild { return false }
    var deadline = Deadline.after(patience)
    while worker.pointee.word.loadAcquire() != Parking.done {
        if park(worker.pointee.word, at: worker.pointee.word.address, until: deadline) { continue }
        // A worker that was taken from the idle list stays: the thread that took it is about to wake it.
        if poolLock.withLock({ worker.pointee.isIdle && pool.leave(worker) }) { return false }
        deadline = .never
    }
    worker.pointee.word.storeRelaxed(Parking.awake)
    // Work that came meanwhile may count on this worker: the system may have given no other.
    return !poolLock.withLock { pool.isClosed && !pool.hasAny && pool.leave(worker) }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Worker {
    /// Wakes a worker that was taken from the idle list. The worker may end before the call returns: its address is only a
    /// number.
    func wake() { unparkDone(pointee.word, at: pointee.word.address) }
}

// MARK: Under the lock

extension Worker {
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

    /// Returns false if the worker is needed or was called meanwhile. The remaining workers are enough for both kinds of work.
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

// MARK: Calling a worker

/// A call is decided under the pool's lock and made after it.
enum WorkerCall {
    case nobody
    case worker(WorkerPointer)
    /// A thread is to be made. It counts in `starting`, and as busy for its duty.
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

    /// The width is at least 2: a handler may spin until another one acts.
    fileprivate mutating func setWidth() {
        if width == 0 { width = max(2, Int(vow_platform_processors())) }
    }

    /// Decides on a call, after work was added or taken or room was made. One call is enough: the worker that comes calls
    /// for more. The keeper brings a worker only if a thread can be made, so a worker is called first.
    mutating func callForMore() -> WorkerCall {
        setWidth()
        if mayCall(.events) { return callWorker(for: .events) }
        if mayCall(.reactions) { return callWorker(for: .reactions) }
        if mayCall(.drains) { return callWorker(for: .drains) }
        return hasWaiting(.reactions) || hasWaiting(.drains) ? callKeeper() : .nobody
    }

    /// `callForMore` where only work of this kind was added.
    @inline(__always)
    mutating func call(for duty: Duty) -> WorkerCall {
        setWidth()
        if mayCall(duty) { return callWorker(for: duty) }
        return hasWaiting(duty) ? callKeeper() : .nobody
    }

    private func mayCall(_ duty: Duty) -> Bool { hasMore(duty) && hasRoom(for: duty) }

    /// Whether work finds no room. The keeper may make room.
    private func hasWaiting(_ duty: Duty) -> Bool { has(duty) && !hasRoom(for: duty) }

    /// Decides on a call after a failed start: a worker that became idle meanwhile found no room for the work. Without one
    /// the keeper tries again.
    fileprivate mutating func callAfterFailure() -> WorkerCall {
        idle != nil ? callForMore() : hasAny ? callKeeper() : .nobody
    }
}

/// Makes a call. Returns false if the system gives no thread. Then the existing workers do the work in their time; without any,
/// the work is refused.
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

/// Starts a worker that is counted in `starting` and as busy. Returns false if the system gives no thread.
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

/// Takes a worker out of the counts for which the system gives no thread.
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

/// Refuses all work: there is no worker, and the system gives none. The caller may be in the middle of a hand-over, so
/// reactions that become ready here, also inline ones, wait for its end.
@inline(never)
private func refuseAllPooled(_ thread: ThreadPointer) {
    thread.pointee.foreignDepth &+= 1
    defer { thread.pointee.foreignDepth &-= 1 }
    refusePooled(.noThread, thread)
    while let executor = poolLock.withLock({ pool.drains.popFirst() }) {
        refuseDrain(executor, .noThread, thread)
    }
}

/// Held while the first worker or the keeper is made, so that a thread which comes meanwhile waits for the result. Never held
/// across foreign code, and not taken in a forked child, where a thread of the parent may have held it.
let firstThreadsLock = SpinLock()

/// Makes the first worker and the keeper before there is work: if the system gives no other thread later, that worker does all.
func prepareWorkers(_ thread: ThreadPointer) {
    // The schedules know the threads of their scenario and no others.
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

/// Ends the workers that have no more work: the library's work in the process has ended.
func closePool() {
    // See the head: in a forked child the records are the parent's.
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

// MARK: The keeper

/// All fields are under the pool's lock.
struct Keeper {
    enum Presence { case none, starting, there }

    /// The state of its thread. Its maker sets `starting` and `there` under `firstThreadsLock` as well.
    var presence = Presence.none
    /// Set from a call of the keeper until it finds no waiting work. A thread that finds it set does not call the keeper.
    var isWatching = false
    /// The moment at which a timer is due; `Int64.max`: never.
    var alarm = Int64.max
    /// The moment until which the keeper sleeps, unless it is called.
    var sleepsUntil = Int64.min
}

/// Nanoseconds between two looks, and the processor time of a sleeping worker in between, at most.
private let betweenLooks: Int64 = 10_000_000
private let nextToNothing = betweenLooks / 4
/// The most sleepers of each kind that are made up for.
private let mostAsleep = 256

private let keeperWord = AtomicWord(Parking.awake)

/// Makes the keeper look, and creates it the first time. Returns false if the system gives no thread.
func callKeeper() -> Bool { callKeeperIfThere() || firstThreadsLock.withLock { makeKeeper() } }

private func callKeeperIfThere() -> Bool {
    if poolLock.withLock({ pool.keeper.presence != .there }) { return false }
    unparkToLook(keeperWord, at: keeperWord.address)
    return true
}

/// Calls or creates the keeper. The caller holds `firstThreadsLock`.
func makeKeeper() -> Bool {
    if callKeeperIfThere() { return true }
    poolLock.withLock { pool.keeper.presence = .starting }
    let isMade = startThread(keeperMain)
    poolLock.withLock {
        if !isMade {
            pool.keeper.presence = .none
            pool.keeper.isWatching = false
        } else if pool.keeper.presence == .starting {
            // Else the keeper has ended already.
            pool.keeper.presence = .there
        }
    }
    return isMade
}

/// Makes the threads that a timer or a watch of the process needs. The caller holds no lock. Returns false if it cannot.
func prepareKeeper(_ thread: ThreadPointer) -> Bool {
    prepareWorkers(thread)
    return hasWorkers && (poolLock.withLock { pool.keeper.presence == .there } || callKeeper())
}

/// Sets the alarm of the process's clock, if that is earlier than before.
func setAlarm(_ moment: Int64) {
    let isTooLate = poolLock.withLock {
        pool.keeper.alarm = min(pool.keeper.alarm, moment)
        return moment < pool.keeper.sleepsUntil
    }
    if isTooLate { unparkToLook(keeperWord, at: keeperWord.address) }
}

private func keeperMain(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    vow_platform_name_thread("vow keeper")
    let thread = currentThread()
    while let deadline = poolLock.withLock({ pool.keepersDeadline() }) {
        _ = park(keeperWord, at: keeperWord.address, until: deadline)
        poolLock.withLock { pool.keep() }
        while true {
            let call = poolLock.withLock { pool.callForMore() }
            if case .nobody = call { break }
            if !make(call, thread) { break }
        }
    }
    return nil
}

extension Pool {
    /// Returns nil if the keeper ends.
    fileprivate mutating func keepersDeadline() -> Deadline? {
        if isClosed && !keeper.isWatching {
            keeper.presence = .none
            return nil
        }
        let nextLook = keeper.isWatching ? monotonicNow() + betweenLooks : Int64.max
        keeper.sleepsUntil = min(nextLook, keeper.alarm)
        return keeper.sleepsUntil == Int64.max ? .never : Deadline(at: keeper.sleepsUntil)
    }

    /// The keeper's work after a sleep or a call.
    fileprivate mutating func keep() {
        keeper.sleepsUntil = Int64.min
        if keeper.alarm <= monotonicNow() {
            keeper.alarm = Int64.max
            events.insert(.clock)
        }
        self[.reactions].asleep = 0
        self[.drains].asleep = 0
        keeper.isWatching = hasAny
        if keeper.isWatching { lookAtWorkers() }
    }

    private mutating func lookAtWorkers() {
        var next = all
        while let worker = next {
            next = worker.pointee.next
            if let duty = worker.pointee.duty, duty != .events, !worker.pointee.isBlocked,
                worker.isAsleep, self[duty].asleep < mostAsleep
            {
                self[duty].asleep += 1
            }
        }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Worker {
    /// Whether the worker has slept since the last look. A worker that seems to sleep may be waiting for a processor.
    fileprivate var isAsleep: Bool {
        let time = pointee.clock.nanoseconds
        defer {
            pointee.begunBefore = pointee.begun
            pointee.timeBefore = time
        }
        return pointee.begun == pointee.begunBefore && time - pointee.timeBefore < nextToNothing
    }
}
