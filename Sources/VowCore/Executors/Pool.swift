// The pool: ready work, and the choice of the worker that does it. Three kinds of work stand here: the pool's reactions and the
// drains of serial executors, each in the order of their arrival, and events off loops. The workers are threads of the library
// (docs/decisions/0016), so handing work over needs neither memory nor a new thread.
//
//   pool                  under `poolLock`, which is held for a few instructions; the keeper's look reads one clock per worker
//   Worker                under `poolLock`, but for its word; on the stack of its thread, which takes it out of both lists
//   a worker's word       its thread, and the thread that has taken it from the idle list: the worker cannot leave before that
//                         thread has written `done`, its last step on the record; the kernel gets the address as a number
//   keeperWord            any thread; static memory
//   owesWorker, worker    the thread itself, in `ThreadState`
//
// Under the lock no foreign code runs and no thread is made or woken: a `WorkerCall` is decided under it, and made after it.
// The release of `unlock` pairs with the acquire of the next `lock`: a worker sees all that was written before its reaction
// was appended.
//
// Room: as many reactions, and as many drains, run at once as `width` and the workers of that kind that the keeper has seen
// asleep; of events 32. So long handlers of one kind do not hold up the other. A worker is busy from the decision to call it
// until it takes the lock after its work, or waits in `vow_await`. A worker that comes back from a wait is busy at once.
//
// No call is lost: while work of a kind stands and has room, a worker is on its way that will look under the lock. It is
// called, being started, or about to look for work. Each section that adds work or makes room keeps this rule:
//
// * A thread that adds work calls an idle worker, or starts one. A worker that is about to look for work may keep one reaction
//   without a call (`owesWorker`), and makes that call before any foreign code.
// * A worker that looks takes work that has room and calls for more, one call at a time, even if it takes nothing: workers that
//   came back from waits may have used up the room. Then the keeper is called. A worker that goes on with another reaction
//   (`takeAnother`) calls nobody. It makes no room. A reaction that it left without a call may stay behind: then the reaction that
//   it took had no room either, or a worker was on its way for that one and comes now for this one.
// * A worker becomes idle in the section in which it finds that nothing may begin. A worker that begins to wait makes room and
//   calls for more.
// * A failed start gives its room back and looks again in one section: a worker that became idle meanwhile had found no room.
//   Without an idle worker the keeper tries again. Calling the keeper brings no worker, so a worker is called if one can be.
//
// One worker always goes on (G11), because the awaited work may stand in the queue: a worker waits only while
// `workers - blocked >= 2`. Else it starts a thread and looks again; if the system gives none, or there are 2,048, the wait is
// refused with VOW_ENOMEM. A worker leaves only while more than twice the width do not wait, or after `vow_shutdown`. A new
// thread is in `starting` until its maker has counted it: for a moment too few workers are known, never too many. A worker that
// waits while it runs a loop is counted once, whatever waits inside. Work for which no thread can be had, while no worker is
// left that does not wait, is refused with VOW_ENOMEM, after the hand-over in whose middle that was found out.
//
// The model `pool.pml` searches this with two and three threads; each section under the lock is one step.

import CVow
import CVowPlatform

/// The workers with the same duty.
struct Crew {
    /// Workers at work, or called; without waiting ones.
    var busy = 0
    /// Busy workers that are on their way and have not looked yet.
    var called = 0
    /// Busy workers that sleep in the system, as far as the keeper has seen.
    var asleep = 0
}

/// Events off loops.
struct Events: OptionSet {
    let rawValue: UInt8
    /// A timer of the process's clock is due.
    static let clock = Events(rawValue: 1)
    /// A descriptor of the process's table is ready.
    static let watches = Events(rawValue: 2)
}

struct Pool {
    /// The most threads of a pool: a wait that would need another one is refused.
    static let mostWorkers = 2048
    /// Handlers of events may be held up; this many at a time hold up no other event.
    private static let mostAtEvents = 32

    /// The number of reactions, and of drains, that run at once; 0: not known yet.
    var width = 0
    var reactions = MemberList()
    var drains = DrainList()
    var events = Events()
    private var crews = (Crew(), Crew(), Crew())
    /// Threads that are there, and threads that are being made.
    var workers = 0
    var starting = 0
    /// Workers that wait inside a handler.
    var blocked = 0
    /// The workers without work, the latest first.
    var idle: WorkerPointer?
    /// All workers.
    var all: WorkerPointer?
    var keeper = Keeper()
    /// Set by `vow_shutdown`: a worker that finds no work ends.
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

    func hasRoom(for duty: Duty) -> Bool {
        if duty == .events { return self[duty].busy < Pool.mostAtEvents }
        return self[duty].busy < width + self[duty].asleep
    }

    var hasAny: Bool { has(.reactions) || has(.drains) || has(.events) }

    /// Whether there is more work than the workers on their way will begin.
    func hasMore(_ duty: Duty) -> Bool {
        switch duty {
        case .reactions:
            !reactions.isEmpty && (self[duty].called == 0 || reactions.first != reactions.last)
        case .drains: !drains.isEmpty && (self[duty].called == 0 || !drains.hasOnlyOne)
        case .events: events.rawValue.nonzeroBitCount > self[duty].called
        }
    }

    /// Takes one event: its handlers may be held up.
    fileprivate mutating func takeEvent() -> Events? {
        if events.isEmpty { return nil }
        let event: Events = events.contains(.clock) ? .clock : .watches
        events.remove(event)
        return event
    }

    private func mayBegin(_ duty: Duty) -> Bool { has(duty) && hasRoom(for: duty) }

    /// The next duty of a worker; nil: nothing may begin. Events come first; then more of the last kind, unless no worker
    /// does the other kind: so even a single worker does both. A sleeping worker counts as busy here.
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

/// Appends a number of reactions in one section, with one call.
@inline(never)
func submitPooled(_ added: MemberList, _ number: Int, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.workGiven, number)
    let isMine =
        number == 1 && thread.pointee.isAboutToLookForWork && !thread.pointee.owesWorker
        && thread.pointee.foreignDepth == 0
    let call = poolLock.withLock {
        pool.reactions.append(added)
        return isMine ? .nobody : pool.call(for: .reactions)
    }
    if isMine { thread.pointee.owesWorker = true }
    make(call, thread)
}

/// - Parameter executor: retained for the drain.
func submitDrain(of executor: ExecutorPointer, _ thread: ThreadPointer) {
    let call = poolLock.withLock {
        pool.drains.append(executor)
        return pool.call(for: .drains)
    }
    make(call, thread)
}

/// Calls another worker, because the calling one runs foreign code before it looks for work.
@inline(never)
func callOwedWorker(_ thread: ThreadPointer) {
    thread.pointee.owesWorker = false
    make(poolLock.withLock { pool.callForMore() }, thread)
}

/// Calls no foreign code.
func submitEvent(_ event: Events, _ thread: ThreadPointer) {
    let call = poolLock.withLock {
        pool.events.insert(event)
        return pool.callForMore()
    }
    make(call, thread)
}

// MARK: Taking work

enum PieceOfWork {
    case reaction(RecordPointer)
    case drain(ExecutorPointer)
    case event(Events)
}

/// Returns the work that a worker begins now; nil: the worker is idle.
func nextWork(_ worker: WorkerPointer, _ thread: ThreadPointer) -> PieceOfWork? {
    thread.pointee.owesWorker = false
    poolLock.lock()
    if let reaction = pool.takeAnother(worker) {
        poolLock.unlock()
        return .reaction(reaction)
    }
    let work = pool.takeWork(worker)
    let call = pool.callForMore()
    poolLock.unlock()
    make(call, thread)
    return work
}

/// Runs a reaction that was taken out of the queue, and the inline reactions that it makes ready.
@inline(__always)
func runPooled(_ reaction: RecordPointer, looksForWorkNext: Bool, _ thread: ThreadPointer) {
    withPlace(at: ownExecutors.pool, thread) {
        perform(reaction, looksForWorkNext: looksForWorkNext, thread)
        leave(thread)
    }
    count(thread.cell.pointee.counters.workEnded)
}

extension Pool {
    /// Takes the next reaction for a worker that has done one, where `takeWork` would take the same. The counts stay, so no
    /// work gets room by it.
    @inline(__always)
    fileprivate mutating func takeAnother(_ worker: WorkerPointer) -> RecordPointer? {
        guard worker.pointee.duty == .reactions, !worker.pointee.isCalled, events.isEmpty,
            self[.reactions].busy <= width + self[.reactions].asleep,
            drains.isEmpty || self[.drains].busy > 0,
            let reaction = reactions.popFirst()
        else { return nil }
        worker.pointee.begun &+= 1
        return reaction
    }

    /// Nil: the worker is idle.
    fileprivate mutating func takeWork(_ worker: WorkerPointer) -> PieceOfWork? {
        let last = takeDuty(of: worker)
        if let duty = duty(after: last), let work = take(duty, worker) { return work }
        makeIdle(worker)
        return nil
    }

    /// Ends the worker's duty.
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

/// Rejects the reactions that no worker has begun; drains go on.
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

func lockPool() { poolLock.lock() }
func unlockPool() { poolLock.unlock() }

// MARK: Waiting inside the pool

/// Takes a reaction that no worker has begun out of the queue.
/// - Parameter depth: how many reactions of the queue are looked at.
func takeFromPool(_ reaction: RecordPointer, within depth: Int) -> Bool {
    poolLock.withLock { pool.reactions.remove(reaction, within: depth) }
}

/// Lends the place of a worker that is about to sleep. Returns false, and the worker must not sleep, if it would be the last
/// one that does not wait and the system gives no other.
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
