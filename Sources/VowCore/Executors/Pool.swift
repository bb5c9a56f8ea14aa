// The pool: ready work, and which worker does it. Three kinds of work stand here: the pool's reactions and the drains of
// serial executors, each in the order in which they came, and what has happened off loops. The workers are threads of our
// own, so that handing work over needs neither memory nor a new thread.
//
// Everything is under one lock that is held for a few instructions. A thread that leaves the lock has called a worker if
// there is work that may begin: a worker looks at all kinds before it becomes idle, and a thread that adds work sees which
// workers are idle.
//
// Of reactions and of drains as many run at once as the process has processors, so long handlers of one kind do not hold up
// the other. Workers that wait in `vow_await` do not count, nor do those that the keeper has seen asleep: a worker lends its
// place while it sleeps, or runs what it waits for itself.

import CVow
import CVowPlatform

/// Those who have the same duty.
struct Crew {
    /// Working, or called and on their way; not those that wait.
    var busy = 0
    /// Of those, who is on the way.
    var called = 0
    /// Of those, how many sleep in the system, as far as the keeper has seen.
    var asleep = 0
}

/// What has happened off loops.
struct Events: OptionSet {
    let rawValue: UInt8
    /// A timer of the process's clock is due.
    static let clock = Events(rawValue: 1)
    /// A descriptor of the process's table is ready.
    static let watches = Events(rawValue: 2)
}

struct Pool {
    /// More threads than these are never made: a wait that would need another one is refused.
    static let mostWorkers = 2048
    /// Handlers of events may be held up; so many at a time hold up nobody else.
    private static let mostAtEvents = 32

    /// How many reactions, and how many drains, run at once; 0: nobody has asked yet.
    var width = 0
    var reactions = MemberList()
    var drains = DrainList()
    var events = Events()
    private var crews = (Crew(), Crew(), Crew())
    /// Threads that are there, and threads that somebody is trying to make.
    var workers = 0
    var starting = 0
    /// Workers that wait inside a handler.
    var blocked = 0
    /// Those without work, the last to come first.
    var idle: WorkerPointer?
    /// All that have begun.
    var all: WorkerPointer?
    var keeper = Keeper()
    /// After `vow_shutdown`: who finds nothing more to do ends.
    var isClosed = false

    subscript(duty: Duty) -> Crew {
        get {
            switch duty {
            case .reactions: crews.0
            case .drains: crews.1
            case .events: crews.2
            }
        }
        set {
            switch duty {
            case .reactions: crews.0 = newValue
            case .drains: crews.1 = newValue
            case .events: crews.2 = newValue
            }
        }
    }

    func has(_ duty: Duty) -> Bool {
        switch duty {
        case .reactions: !reactions.isEmpty
        case .drains: !drains.isEmpty
        case .events: !events.isEmpty
        }
    }

    /// Whether more of it may run at once.
    func hasRoom(for duty: Duty) -> Bool {
        if duty == .events { return self[duty].busy < Pool.mostAtEvents }
        return self[duty].busy < width + self[duty].asleep
    }

    var hasAny: Bool { has(.reactions) || has(.drains) || has(.events) }

    /// Whether there is more than those who are on their way will begin.
    func hasMore(_ duty: Duty) -> Bool {
        switch duty {
        case .reactions:
            !reactions.isEmpty && (self[duty].called == 0 || reactions.first != reactions.last)
        case .drains: !drains.isEmpty && (self[duty].called == 0 || !drains.hasOnlyOne)
        case .events: events.rawValue.nonzeroBitCount > self[duty].called
        }
    }

    /// One at a time: what one of them calls may be held up.
    fileprivate mutating func takeEvent() -> Events? {
        if events.isEmpty { return nil }
        let event: Events = events.contains(.clock) ? .clock : .watches
        events.remove(event)
        return event
    }

    private func mayBegin(_ duty: Duty) -> Bool { has(duty) && hasRoom(for: duty) }

    /// What a worker does after something else: events first; then more of the same, but the other kind where nobody does
    /// that, so that even a single worker does both. Nil: there is nothing that may begin.
    func duty(after last: Duty) -> Duty? {
        if mayBegin(.events) { return .events }
        let same: Duty = last == .drains ? .drains : .reactions
        let other: Duty = last == .drains ? .reactions : .drains
        if mayBegin(other) && (self[other].busy == 0 || !mayBegin(same)) { return other }
        return mayBegin(same) ? same : nil
    }
}

let poolLock = SpinLock()
nonisolated(unsafe) var pool = Pool()

// MARK: Adding work

func submitPooled(_ reaction: RecordPointer, _ thread: ThreadPointer) {
    let isMine =
        thread.pointee.isAboutToLookForWork && !thread.pointee.owesWorker
        && thread.pointee.foreignDepth == 0
    poolLock.lock()
    pool.reactions.append(reaction)
    let call: WorkerCall = isMine ? .nobody : pool.callForMore()
    poolLock.unlock()
    if isMine { thread.pointee.owesWorker = true }
    make(call, thread)
}

/// Under the lock; then a worker is called if there is more to do.
@inline(__always)
private func changePool(_ thread: ThreadPointer, _ change: (inout Pool) -> Void) {
    poolLock.lock()
    change(&pool)
    let call = pool.callForMore()
    poolLock.unlock()
    make(call, thread)
}

/// - Parameter executor: retained for the drain.
func submitDrain(of executor: ExecutorPointer, _ thread: ThreadPointer) {
    changePool(thread) { $0.drains.append(executor) }
}

/// The worker that was about to look for work does something else first: another one is called.
@inline(never)
func callOwedWorker(_ thread: ThreadPointer) {
    thread.pointee.owesWorker = false
    changePool(thread) { _ in }
}

/// Calls no foreign code.
func submitEvent(_ event: Events, _ thread: ThreadPointer) {
    changePool(thread) { $0.events.insert(event) }
}

// MARK: Taking work

enum PieceOfWork {
    case reaction(RecordPointer)
    case drain(ExecutorPointer)
    case event(Events)
}

/// What a worker begins now; nil: it is among the idle ones.
func nextWork(_ worker: WorkerPointer, _ thread: ThreadPointer) -> PieceOfWork? {
    thread.pointee.owesWorker = false
    var work: PieceOfWork?
    // A worker is called also where this one begins nothing: what has no room has the keeper.
    changePool(thread) { pool in
        let last = pool.takeDuty(of: worker)
        work = pool.duty(after: last).flatMap { pool.take($0, worker) }
        if work == nil { pool.makeIdle(worker) }
    }
    return work
}

extension Pool {
    /// It is done with that.
    mutating func takeDuty(of worker: WorkerPointer) -> Duty {
        guard let duty = worker.pointee.duty else { return .reactions }
        self[duty].busy -= 1
        if worker.pointee.isCalled { self[duty].called -= 1 }
        worker.pointee.isCalled = false
        worker.pointee.duty = nil
        return duty
    }

    fileprivate mutating func take(_ duty: Duty, _ worker: WorkerPointer) -> PieceOfWork? {
        self[duty].busy += 1
        worker.pointee.duty = duty
        worker.pointee.begun &+= 1
        switch duty {
        case .reactions: return reactions.popFirst().map { .reaction($0) }
        case .drains: return drains.popFirst().map { .drain($0) }
        case .events: return takeEvent().map { .event($0) }
        }
    }
}

/// Rejects what no worker has begun; drains go on.
func refusePooled(_ reason: Refusal, _ thread: ThreadPointer) {
    while let reaction = poolLock.withLock({ pool.reactions.popFirst() }) {
        refuseWholly(reaction, reason, thread)
    }
}

/// Rejects work that was given to an executor, outside of any step.
@inline(never)
func refuseWholly(_ reaction: RecordPointer, _ reason: Refusal, _ thread: ThreadPointer) {
    asOneStep(thread) { refuse(reaction, reason, thread) }
    leave(thread)
    count(thread.cell.pointee.counters.workEnded)
}

/// Around a fork.
func lockPool() { poolLock.lock() }
func unlockPool() { poolLock.unlock() }

// MARK: Waiting inside the pool

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
