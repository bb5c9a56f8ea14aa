// The threads that wait: where each of them waits, how it is woken, and when it has to look again (G11).
//
//   counts of the waiter       the parking word: the thread, and each thread that wakes or nudges it, by exchanges
//   the lists, `inner`         `waitingThreadsLock`
//   promise, reaction, place   constant while the wait is listed
//   way                        the thread; read by threads that may make the wait endless
//
// *Waking.* A waiter's record is on its thread's stack and in the promise's queue. Its parking word goes from awake to
// asleep, and then to nudged (the thread looks again) or done. The waker exchanges *done*, and calls the kernel only if it
// found *asleep*. The exchange is the waker's last step on the record: the kernel gets the address as a number. A waiter
// whose time is up takes itself out of the queue under the lock. If it is not there any more, the settling thread has it
// and is about to say *done*; the waiter stays until then.
//
// *A wait that becomes endless later.* Three kinds of steps may make a wait endless. The thread that takes one looks
// afterwards for the waits that it concerns, and nudges them; a wait announces itself before it looks ahead. Both sides
// have a full fence in between (`orderStoresBeforeLoads`), so one of the two sees the other.
//
// - Work reaches a serial or barrier executor or a loop: the waits that block this executor are nudged. A wait that does
//   not block it finds nothing new. If another wait holds the executor up, that wait finds the ring of which both are
//   parts.
// - A promise begins to follow: the watched waits whose look came past it are nudged (`way`). A promise off a way must
//   first come to it, by another one on the way that begins to follow.
// - A member of `vow_any` or `vow_some` settles without deciding, or a machine goes on to its next promise, which may be an
//   older one (`vow_reduce`): the waits whose look came past the combined promise are nudged.
//
// The way is all promises while a wait looks, stored by a read-modify-write before the look. It stays so after a look that
// was cut short, or that came through a combined promise with other members to come.
//
// *Waits for each other.* Each wait is listed, under the lock, before it looks, and a look asks the list under the same
// lock. A ring of waits is completed by a wait that begins, whose look finds all others listed, or by one of the steps
// above, which nudges a wait of the ring. So one of its threads looks when the ring is complete. Two waits that complete it
// at once may both be refused. A look reads only constant fields of another wait: `WaitingPlace` keeps the innermost
// `Place` of the wait's beginning, and the places below it on the stack stay. `crossed-waits`, `crossed-results`, `rival-*`
// and `Tests/c/crossed_waits.c` test this.

import CVow
import CVowPlatform

typealias WaitingPointer = UnsafeMutablePointer<WaitingThread>

/// On the stack of the waiting thread.
struct WaitingThread: ~Copyable {
    let waiter: RecordPointer
    /// Borrowed from the caller of the wait.
    let promise: RecordPointer
    let thread: UnsafeMutableRawPointer
    let place: WaitingPlace
    /// The reaction whose handler waits.
    let reaction: RecordPointer?
    /// The wait has a time-out.
    let endsByItself: Bool
    /// The wait may become endless.
    let isWatched: Bool
    /// The promises that the last look came past, as a set of bits, which promises share. If another promise begins to
    /// follow, the look's findings stay true.
    let way = AtomicWord(allPromises)
    var next: UnsafeMutablePointer<WaitingThread>?
    var previous: UnsafeMutablePointer<WaitingThread>?
    /// The list of its reaction.
    var nextOfReaction: UnsafeMutablePointer<WaitingThread>?
    /// The next wait of the same thread, in work that runs inside this wait; under the lock.
    var inner: UnsafeMutablePointer<WaitingThread>?

    init(
        waiter: RecordPointer, promise: RecordPointer, until deadline: Deadline,
        place: consuming WaitingPlace, _ thread: ThreadPointer
    ) {
        self.waiter = waiter
        self.promise = promise
        self.thread = UnsafeMutableRawPointer(thread)
        reaction = thread.pointee.frame?.pointee.reaction
        endsByItself = deadline.nanoseconds != nil
        isWatched = place.isInsideWork || place.blocksItself
        self.place = place
    }
}

/// In one order with the steps that make a wait endless: all watched waits, and those of them that block an executor.
private let watchedCount = AtomicWord(0)
private let blockingCount = AtomicWord(0)

private let waitingThreadsLock = SpinLock()
/// The waits inside handlers, in lists by the reaction's address; behind these the two lists of all waits. Those that block an
/// executor are apart, so new work never walks past the rest. Under the lock; the pointer is written before any thread enters.
nonisolated(unsafe) private var lists: UnsafeMutablePointer<WaitingPointer?>! = nil
private let listCount = 64
private var firstBlocking: WaitingPointer? { lists[listCount] }
private var firstOther: WaitingPointer? { lists[listCount + 1] }

/// Takes memory from the front of `storage`, which it moves on.
func prepareWaitingThreads(_ storage: inout UnsafeMutableRawPointer) {
    lists = storage.bindMemory(to: WaitingPointer?.self, capacity: listCount + 2)
    lists.initialize(repeating: nil, count: listCount + 2)
    storage += (listCount + 2) * MemoryLayout<WaitingPointer?>.stride
}

private func list(of reaction: RecordPointer) -> UnsafeMutablePointer<WaitingPointer?> {
    lists + Int(hashOfAddress(reaction) >> 58)
}

/// Calls the body, which enlists the waiter and takes it out again, while the wait is listed.
func whileListed<Result>(
    _ waiting: consuming WaitingThread, _ thread: ThreadPointer,
    _ body: (WaitingPointer) -> Result
) -> Result {
    var waiting = waiting
    return withUnsafeMutablePointer(to: &waiting) { waiting in
        let outer = thread.pointee.waiting
        thread.pointee.waiting = waiting
        waitingThreadsLock.withLock {
            link(waiting)
            outer?.pointee.inner = waiting
        }
        if waiting.pointee.isWatched {
            _ = watchedCount.addOrdered(1)
            if waiting.pointee.place.blocksItself { _ = blockingCount.addOrdered(1) }
            // Announced before the body looks ahead.
            orderStoresBeforeLoads()
        }
        defer {
            if waiting.pointee.isWatched {
                _ = watchedCount.subtractOrdered(1)
                if waiting.pointee.place.blocksItself { _ = blockingCount.subtractOrdered(1) }
            }
            waitingThreadsLock.withLock {
                unlink(waiting)
                outer?.pointee.inner = nil
            }
            thread.pointee.waiting = outer
        }
        return body(waiting)
    }
}

/// As a way: it may come past any promise.
let allPromises = UInt64.max

@inline(__always)
func bit(of promise: RecordPointer) -> UInt64 {
    #if VOW_SCHEDULES
        // The same in each execution, as addresses are not.
        return 1 << UInt64(promise.pointee.shape.rawValue & 63)
    #else
        return 1 << (hashOfAddress(promise) >> 58)
    #endif
}

/// Calls the body, which looks ahead and returns its way.
func whileLooking<Result>(
    _ waiting: WaitingPointer, _ body: (_ way: inout UInt64) -> Result
) -> Result {
    if waiting.pointee.way.loadRelaxed() != allPromises {
        _ = waiting.pointee.way.exchangeAcquireRelease(allPromises)
        orderStoresBeforeLoads()
    }
    var way: UInt64 = 0
    let found = body(&way)
    waiting.pointee.way.storeRelease(way)
    return found
}

private func link(_ waiting: WaitingPointer) {
    if let reaction = waiting.pointee.reaction {
        waiting.pointee.nextOfReaction = list(of: reaction).pointee
        list(of: reaction).pointee = waiting
    }
    let isFirst = list(like: waiting)
    waiting.pointee.previous = nil
    waiting.pointee.next = isFirst.pointee
    isFirst.pointee?.pointee.previous = waiting
    isFirst.pointee = waiting
}

private func unlink(_ waiting: WaitingPointer) {
    if let reaction = waiting.pointee.reaction {
        var before: WaitingPointer?
        var current = list(of: reaction).pointee
        while let other = current, other != waiting {
            before = other
            current = other.pointee.nextOfReaction
        }
        let rest = waiting.pointee.nextOfReaction
        if let before {
            before.pointee.nextOfReaction = rest
        } else {
            list(of: reaction).pointee = rest
        }
    }
    let next = waiting.pointee.next
    let previous = waiting.pointee.previous
    next?.pointee.previous = previous
    if let previous { previous.pointee.next = next } else { list(like: waiting).pointee = next }
}

private func list(like waiting: WaitingPointer) -> UnsafeMutablePointer<WaitingPointer?> {
    lists + listCount + (waiting.pointee.place.blocksItself ? 0 : 1)
}

/// The promise (a visit) for which the handler of a reaction waits without a time-out. With waits inside that wait, the
/// innermost one's promise: it has to end first, and the outer ones then look ahead again. Nil: no wait.
func promiseAwaited(inHandlerOf reaction: RecordPointer) -> RecordPointer? {
    waitingThreadsLock.withLock {
        var waiting = list(of: reaction).pointee
        while let current = waiting, current.pointee.reaction != reaction {
            waiting = current.pointee.nextOfReaction
        }
        while let inner = waiting?.pointee.inner { waiting = inner }
        return waiting?.awaited
    }
}

/// The promise (a visit) of a wait without a time-out that blocks an executor, which may be gone: its address is compared.
func promiseAwaited(blocking executor: ExecutorPointer) -> RecordPointer? {
    if blockingCount.loadOrdered() == 0 { return nil }
    return waitingThreadsLock.withLock {
        var waiting = firstBlocking
        while let current = waiting, !current.pointee.place.blocks(executor) {
            waiting = current.pointee.next
        }
        return waiting?.awaited
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == WaitingThread {
    fileprivate var awaited: RecordPointer? {
        if pointee.endsByItself { return nil }
        pointee.promise.visit()
        return pointee.promise
    }
}

/// Called after an executor that a wait may block got work. The executor may be gone: its address is compared.
@inline(__always)
func nudgeWaitingThreads(blocking executor: ExecutorPointer) {
    orderStoresBeforeLoads()
    if blockingCount.loadOrdered() != 0 { nudgeThose(blocking: executor) }
}

/// Called after a promise (its bit: the promise may be gone) began to follow another.
@inline(__always)
func nudgeWaitingThreads(past bit: UInt64) {
    orderStoresBeforeLoads()
    if watchedCount.loadOrdered() != 0 { nudgeThose(past: bit) }
}

@inline(never)
private func nudgeThose(blocking executor: ExecutorPointer) {
    waitingThreadsLock.withLock {
        // No suspended fiber blocks an executor.
        forEach(from: firstBlocking) {
            if $0.pointee.place.blocks(executor) { $0.pointee.waiter.nudge() }
        }
    }
}

@inline(never)
private func nudgeThose(past bit: UInt64) {
    var steps = MemberList()
    let nudgeIfPast = { (waiting: WaitingPointer) in
        if waiting.pointee.isWatched && waiting.pointee.way.loadRelaxed() & bit != 0 {
            nudge(waiting, &steps)
        }
    }
    waitingThreadsLock.withLock {
        forEach(from: firstBlocking, nudgeIfPast)
        forEach(from: firstOther, nudgeIfPast)
    }
    if steps.isEmpty { return }
    let thread = currentThread()
    asOneStep(thread) { thread.pointee.agenda.handOver.append(steps) }
}

/// Makes a wait look again. The step of a suspended fiber is added to the list, to be handed over without the lock.
private func nudge(_ waiting: WaitingPointer, _ steps: inout MemberList) {
    let waiter = waiting.pointee.waiter
    if let step = waiter.nudgeFiber() {
        steps.append(step)
    } else {
        waiter.nudge()
    }
}

private func forEach(from first: WaitingPointer?, _ body: (WaitingPointer) -> Void) {
    var waiting = first
    while let current = waiting {
        waiting = current.pointee.next
        body(current)
    }
}

func lockWaitingThreads() { waitingThreadsLock.lock() }
func unlockWaitingThreads() { waitingThreadsLock.unlock() }

/// In a forked child, under the lock: the stacks of the other threads are gone, so their waits leave the queues.
func forgetWaitingThreads(but survivor: UnsafeMutableRawPointer?) {
    let (blocking, others) = (firstBlocking, firstOther)
    lists.update(repeating: nil, count: listCount + 2)
    var watched: UInt64 = 0
    forEach(from: blocking) { keep($0, of: survivor, &watched) }
    blockingCount.storeRelaxed(watched)
    forEach(from: others) { keep($0, of: survivor, &watched) }
    watchedCount.storeRelaxed(watched)
}

private func keep(
    _ waiting: WaitingPointer, of survivor: UnsafeMutableRawPointer?, _ watched: inout UInt64
) {
    if waiting.pointee.thread != survivor {
        waiting.pointee.promise.pointee.state.removeAsOnlyThread(waiting.pointee.waiter)
        return
    }
    link(waiting)
    if waiting.pointee.isWatched { watched += 1 }
}

// MARK: Where a thread waits

struct WaitingPlace: ~Copyable {
    /// The thread waits in a handler, or in other work of an executor.
    let isInsideWork: Bool
    /// The thread waits in work of the pool, and not of a serial executor alone.
    let isInPool: Bool
    /// The thread's worker, which lends its place. Nil in a forked child, which has no pool.
    let worker: WorkerPointer?
    /// The wait blocks an executor that runs nothing else meanwhile.
    let blocksItself: Bool
    private let blocksMain: Bool
    /// The custom serial executor that the thread belongs to, though outside of its work; the caller of the wait owns it.
    let ambient: ExecutorPointer?
    /// The executor of the loop that the thread runs while it waits.
    private let running: ExecutorPointer?
    /// The work that the wait is part of, without the work inside the wait.
    private let innermost: UnsafeMutablePointer<Place>?

    /// The place of a suspended fiber, which blocks no executor.
    init() {
        isInsideWork = true
        isInPool = false
        worker = nil
        blocksItself = false
        blocksMain = false
        ambient = nil
        running = nil
        innermost = nil
    }

    /// - Parameter ambient: the custom executor that the thread says it belongs to; consumed.
    init(_ thread: ThreadPointer, running: ExecutorPointer?, ambient: ExecutorPointer?) {
        self.running = running
        let innermost = thread.pointee.place
        self.innermost = innermost
        isInsideWork = thread.pointee.frame != nil || innermost != nil
        isInPool = !isForkedChild && anyPlace(from: innermost) { $0.pointee.kind == .pool }
        worker = isForkedChild ? nil : thread.pointee.worker
        blocksMain =
            isMainExecutorUsed.isSet && vow_platform_is_main_thread() != 0 && WorkQueue.main != nil
        self.ambient = ambient
        blocksItself =
            blocksMain || ambient != nil
            || anyPlace(from: innermost) { $0.pointee.runsNothingBeside && $0 != running }
    }

    /// Whether the executor's work has to wait for this thread. The executor may be gone: its address is compared, and all
    /// else that is read is the thread's. Any thread may ask while this thread waits.
    func blocks(_ executor: ExecutorPointer?) -> Bool {
        guard let executor, blocksItself, executor != running else { return false }
        if blocksMain && executor == ownExecutors.main { return true }
        if executor == ambient { return true }
        return anyPlace(from: innermost) { $0 == executor && $0.pointee.runsNothingBeside }
    }
}

/// Whether the handler of a reaction is on the thread's stack.
func isRunning(_ reaction: RecordPointer, _ thread: ThreadPointer) -> Bool {
    var frame = thread.pointee.frame
    while let current = frame {
        if current.pointee.reaction == reaction { return true }
        frame = current.pointee.outer
    }
    return false
}

private func anyPlace(
    from innermost: UnsafeMutablePointer<Place>?, _ matches: (ExecutorPointer) -> Bool
) -> Bool {
    var place = innermost
    while let current = place {
        if matches(current.pointee.executor) { return true }
        place = current.pointee.outer
    }
    return false
}

// MARK: Waking a thread, or making it look again

/// Wakes a waiting thread. Returns the step of a fiber that was suspended. The waiter must not be touched afterwards.
func wake(_ waiter: RecordPointer, _ thread: ThreadPointer) -> RecordPointer? {
    if let event = Parking.event(in: waiter.pointee.counts.loadRelaxed()) {
        // First: once the word is done, the loop may be gone. Until then the loop's thread does not leave.
        if !runsLoop(raising: event, thread) { vow_platform_raise(event) }
        waiter.pointee.counts.storeRelease(Parking.done)
        return nil
    }
    let word = unparkDone(waiter.pointee.counts, at: waiter.parkingAddress)
    return suspendedStep(in: word)
}

/// Whether the thread is in a step of the loop, and its runner. Then the wait is its own, and looks when the step ends. A handler
/// that goes on when the loop's thread ends has the loop as its place, too, while another thread may run the loop.
private func runsLoop(raising event: Int32, _ thread: ThreadPointer) -> Bool {
    guard let executor = thread.pointee.place?.pointee.executor, executor.pointee.kind == .loop,
        let loop = executor.pointee.context?.assumingMemoryBound(to: LoopRecord.self)
    else { return false }
    return loop.pointee.event == event && loop.pointee.runner.loadRelaxed() == word(of: thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Makes a waiter's thread look again.
    func nudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word) {
            let nudged = Parking.inLoop(raising: event) &- Parking.inLoop &+ Parking.nudgedInLoop
            // Fails if the waiter is nudged already, or done.
            _ = pointee.counts.replaceAcquireRelease(word, nudged)
            vow_platform_raise(event)
        } else {
            unparkToLook(pointee.counts, at: parkingAddress)
        }
    }

    /// A waiter whose thread runs a loop was nudged since its last look.
    var isNudged: Bool { Parking.isNudgedInLoop(pointee.counts.loadAcquire()) }

    /// Called before a look. Acquires the change that the nudge is about.
    func takeNudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word), Parking.isNudgedInLoop(word) {
            _ = pointee.counts.replaceAcquire(word, Parking.inLoop(raising: event))
        }
    }

    /// A waiter's count is its parking word. Little-endian, so the low half comes first.
    var parkingAddress: UnsafeRawPointer {
        UnsafeRawPointer(self) + MemoryLayout<UInt64>.size
    }
}
