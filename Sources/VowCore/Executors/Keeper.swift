// The pool's keeper, a thread of our own that does no work itself, so it is never held up. It does two things:
//
// It is the alarm of the process's clock: when the time has come, it calls a worker.
//
// While work waits for workers that are busy, it looks now and then whether those get any of the processor's time. One that
// has begun nothing new and has had next to none sleeps, in a system call or on a lock of the program's, and does not count:
// another one begins.

import CVow
import CVowPlatform

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
