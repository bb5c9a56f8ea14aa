// The threads of the pool: a worker, from its first piece of work to its last; which worker comes to do work, an idle one or
// a new one; and the keeper.
//
// The keeper is a thread of our own that does no work itself, so it is never held up. It is the alarm of the process's
// clock: when the time has come, it calls a worker. While work waits for workers that are busy, the keeper looks now and then
// whether those get any of the processor's time. A worker that has begun nothing new and has had next to none sleeps, in a
// system call or on a lock of the program's, and does not count: another one begins.

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

// MARK: Calling a worker

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

// MARK: The keeper

/// Under the pool's lock.
struct Keeper {
    enum Presence { case none, starting, there }

    /// Of its thread; `starting`, then `there`, is set under `firstThreadsLock` too, by who makes it.
    var presence = Presence.none
    /// It looks at the workers now and then, or somebody has called it to.
    var isWatching = false
    /// When a timer is due; `Int64.max`: never.
    var alarm = Int64.max
    /// Until when it sleeps, unless it is called.
    var sleepsUntil = Int64.min
}

/// Between two looks, in nanoseconds, and how little of it a worker that sleeps has had.
private let betweenLooks: Int64 = 10_000_000
private let nextToNothing = betweenLooks / 4
/// So many are made up for. Of each kind of work no more run at once than these and the width.
private let mostAsleep = 256

private let keeperWord = AtomicWord(Parking.awake)

/// Makes it look; also the first time. False: the system gives no thread.
func callKeeper() -> Bool { callKeeperIfThere() || firstThreadsLock.withLock { makeKeeper() } }

private func callKeeperIfThere() -> Bool {
    if poolLock.withLock({ pool.keeper.presence != .there }) { return false }
    unparkToLook(keeperWord, at: keeperWord.address)
    return true
}

/// The same, under `firstThreadsLock`.
func makeKeeper() -> Bool {
    if callKeeperIfThere() { return true }
    poolLock.withLock { pool.keeper.presence = .starting }
    let isMade = startThread(keeperMain)
    poolLock.withLock {
        if !isMade {
            // The next caller tries again.
            pool.keeper.presence = .none
            pool.keeper.isWatching = false
        } else if pool.keeper.presence == .starting {
            // Else it has ended already.
            pool.keeper.presence = .there
        }
    }
    return isMade
}

/// What a timer or a watch of the process needs; under no lock. False: the system gives no thread.
func prepareKeeper(_ thread: ThreadPointer) -> Bool {
    prepareWorkers(thread)
    return hasWorkers && (poolLock.withLock { pool.keeper.presence == .there } || callKeeper())
}

/// When it calls somebody to the clock, if that is earlier than it was.
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
    /// Nil: it ends.
    fileprivate mutating func keepersDeadline() -> Deadline? {
        if isClosed && !keeper.isWatching {
            keeper.presence = .none
            return nil
        }
        let nextLook = keeper.isWatching ? monotonicNow() + betweenLooks : Int64.max
        keeper.sleepsUntil = min(nextLook, keeper.alarm)
        return keeper.sleepsUntil == Int64.max ? .never : Deadline(at: keeper.sleepsUntil)
    }

    /// It has slept, or was called.
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
    /// Since the last look. A moment's view: one that seems to sleep may be waiting for a processor.
    fileprivate var isAsleep: Bool {
        let time = pointee.clock.nanoseconds
        defer {
            pointee.begunBefore = pointee.begun
            pointee.timeBefore = time
        }
        return pointee.begun == pointee.begunBefore && time - pointee.timeBefore < nextToNothing
    }
}
