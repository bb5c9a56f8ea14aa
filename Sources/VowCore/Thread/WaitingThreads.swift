// The threads that wait, where each of them waits, and how one is woken.
//
// Threads that wait inside handlers and other work are told to look again by whatever may have made their wait endless:
// work that reaches an executor that they block, a promise that a thread waits for and that begins to follow another. A
// thread that looks ahead goes on behind a handler that waits, and behind the work of an executor that is held up by such a
// handler. In a forked child the waits of other threads are forgotten, because their stacks are gone.
//
// A waiting thread's record stands on its own stack: a thread that wakes it must not touch the record afterwards.

import CVow
import CVowPlatform

typealias WaitingPointer = UnsafeMutablePointer<WaitingThread>

/// On the stack of the waiting thread; linked under the lock.
struct WaitingThread: ~Copyable {
    let waiter: RecordPointer
    /// Borrowed from the caller of the wait.
    let promise: RecordPointer
    let thread: UnsafeMutableRawPointer
    let place: WaitingPlace
    /// The reaction whose handler waits.
    let reaction: RecordPointer?
    /// It has a time-out.
    let endsByItself: Bool
    /// Its wait may become endless.
    let isWatched: Bool
    /// The promises that its last look came past, a bit for each, which others may share: when another one begins to
    /// follow, nothing that the look has found changes. While it looks, all of them.
    let way = AtomicWord(allPromises)
    var next: UnsafeMutablePointer<WaitingThread>?
    var previous: UnsafeMutablePointer<WaitingThread>?
    /// In the list of its reaction.
    var nextOfReaction: UnsafeMutablePointer<WaitingThread>?
    /// The next wait of the same thread, in what it runs inside this one; under the lock.
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

/// In the single order with the steps that make a wait endless: the waits that may become so, and those of them that
/// block an executor.
private let watchedCount = AtomicWord(0)
private let blockingCount = AtomicWord(0)

private let waitingThreadsLock = SpinLock()
/// Those that block an executor apart, so that work for others never walks past the rest.
nonisolated(unsafe) private var firstBlocking: UnsafeMutablePointer<WaitingThread>?
nonisolated(unsafe) private var firstOther: UnsafeMutablePointer<WaitingThread>?

/// Lists of the handlers that wait, by the address of the reaction; under the lock. Written once, before any thread has
/// entered.
nonisolated(unsafe) private var handlers: UnsafeMutablePointer<WaitingPointer?>! = nil
private let listCount = 64

/// Takes memory from the front of `storage`, which it moves on.
func prepareWaitingThreads(_ storage: inout UnsafeMutableRawPointer) {
    handlers = storage.bindMemory(to: WaitingPointer?.self, capacity: listCount)
    handlers.initialize(repeating: nil, count: listCount)
    storage += listCount * MemoryLayout<WaitingPointer?>.stride
}

private func list(of reaction: RecordPointer) -> UnsafeMutablePointer<WaitingPointer?> {
    handlers + Int(hashOfAddress(reaction) >> 58)
}

/// Calls the body, which enlists the waiter and takes it out again, while the thread is on the list.
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
            // Announced before the body looks ahead: one of the two sees the other.
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

/// As the set of a way: it may come past any promise.
let allPromises = UInt64.max

/// A promise's bit in such a set.
@inline(__always)
func bit(of promise: RecordPointer) -> UInt64 {
    #if VOW_SCHEDULES
        // The same in each execution, as addresses are not.
        return 1 << UInt64(promise.pointee.shape.rawValue & 63)
    #else
        return 1 << (hashOfAddress(promise) >> 58)
    #endif
}

/// Calls the body, which looks ahead and tells what way it came. Announced before, as above.
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
    let next = first(like: waiting)
    waiting.pointee.previous = nil
    waiting.pointee.next = next
    next?.pointee.previous = waiting
    setFirst(waiting, like: waiting)
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
    if let previous { previous.pointee.next = next } else { setFirst(next, like: waiting) }
}

/// The first one of the list in which such a thread stands.
private func first(like waiting: WaitingPointer) -> WaitingPointer? {
    waiting.pointee.place.blocksItself ? firstBlocking : firstOther
}

private func setFirst(_ first: WaitingPointer?, like waiting: WaitingPointer) {
    if waiting.pointee.place.blocksItself { firstBlocking = first } else { firstOther = first }
}

/// What the thread of a handler that waits waits for, for as long as it takes, as a visit: not what that handler does, but
/// one that runs inside its wait, if there is any, for that has to end first. Each wait looks ahead again then. Nil: the
/// handler does not wait.
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

/// What somebody waits for, as long as it takes, whose wait blocks an executor (which may be gone: its address is
/// compared); as a visit.
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

/// After work was given to an executor that a wait may block. The step before and this look, and on the other side
/// the count and the look ahead, must not pass each other: fences. The executor may be gone: its address is compared.
@inline(__always)
func nudgeWaitingThreads(blocking executor: ExecutorPointer) {
    orderStoresBeforeLoads()
    if blockingCount.loadOrdered() != 0 { nudgeThose(blocking: executor) }
}

/// The same after a promise (its bit: it may be gone) began to follow another.
@inline(__always)
func nudgeWaitingThreads(past bit: UInt64) {
    orderStoresBeforeLoads()
    if watchedCount.loadOrdered() != 0 { nudgeThose(past: bit) }
}

@inline(never)
private func nudgeThose(blocking executor: ExecutorPointer) {
    waitingThreadsLock.withLock {
        forEach(from: firstBlocking) {
            if $0.pointee.place.blocks(executor) { $0.pointee.waiter.nudge() }
        }
    }
}

@inline(never)
private func nudgeThose(past bit: UInt64) {
    waitingThreadsLock.withLock {
        forEach(from: firstBlocking) { nudge($0, past: bit) }
        forEach(from: firstOther) { nudge($0, past: bit) }
    }
}

private func nudge(_ waiting: WaitingPointer, past bit: UInt64) {
    if waiting.pointee.isWatched && waiting.pointee.way.loadRelaxed() & bit != 0 {
        waiting.pointee.waiter.nudge()
    }
}

private func forEach(from first: WaitingPointer?, _ body: (WaitingPointer) -> Void) {
    var waiting = first
    while let current = waiting {
        waiting = current.pointee.next
        body(current)
    }
}

/// Around a fork.
func lockWaitingThreads() { waitingThreadsLock.lock() }
func unlockWaitingThreads() { waitingThreadsLock.unlock() }

/// In a forked child, under the lock.
func forgetWaitingThreads(but survivor: UnsafeMutableRawPointer?) {
    let (blocking, others) = (firstBlocking, firstOther)
    firstBlocking = nil
    firstOther = nil
    handlers.update(repeating: nil, count: listCount)
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
//
// Which executors the wait of a thread blocks, and whether the thread takes up a worker of the pool.

struct WaitingPlace: ~Copyable {
    /// In a handler, or in other work of an executor.
    let isInsideWork: Bool
    /// In work of the pool, and not of a serial executor alone.
    let isInPool: Bool
    /// The pool's, if the thread is one: it lends its place. In a forked child there is no pool to lend a place in.
    let worker: WorkerPointer?
    /// The wait blocks an executor that runs nothing else meanwhile.
    let blocksItself: Bool
    private let blocksMain: Bool
    /// The custom serial executor that the thread belongs to, though outside of its work; owned by who waits.
    let ambient: ExecutorPointer?
    /// Of the loop that the thread runs while it waits.
    private let running: ExecutorPointer?
    /// The work that the wait is part of; what the thread does inside the wait is not.
    private let innermost: UnsafeMutablePointer<Place>?

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

    /// Whether what the executor runs has to wait for this thread. The executor may be gone already: its
    /// address is compared, and what is looked at is the thread's. Any thread may ask while this one waits.
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

// MARK: Waking a thread, or telling it to look again

/// Wakes a waiting thread, whose record must not be touched afterwards.
func wake(_ waiter: RecordPointer) {
    if let event = Parking.event(in: waiter.pointee.counts.loadRelaxed()) {
        // First: once it is done, the loop may be gone. Until then its thread does not leave.
        vow_platform_raise(event)
        waiter.pointee.counts.storeRelease(Parking.done)
        return
    }
    unparkDone(waiter.pointee.counts, at: waiter.parkingAddress)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a waiter: makes its thread look again.
    func nudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word) {
            let nudged = Parking.inLoop(raising: event) &- Parking.inLoop &+ Parking.nudgedInLoop
            // Fails where it is nudged already, or done.
            _ = pointee.counts.replaceAcquireRelease(word, nudged)
            vow_platform_raise(event)
        } else {
            unparkToLook(pointee.counts, at: parkingAddress)
        }
    }

    /// Of a waiter whose thread runs a loop: whether it was nudged since it has last begun to look.
    var isNudged: Bool { Parking.isNudgedInLoop(pointee.counts.loadAcquire()) }

    /// It begins to look. Acquires what the nudge is about.
    func takeNudge() {
        let word = pointee.counts.loadRelaxed()
        if let event = Parking.event(in: word), Parking.isNudgedInLoop(word) {
            _ = pointee.counts.replaceAcquire(word, Parking.inLoop(raising: event))
        }
    }

    /// Of a waiter: its count is the parking word. Little-endian, so the low half comes first.
    var parkingAddress: UnsafeRawPointer {
        UnsafeRawPointer(self) + MemoryLayout<UInt64>.size
    }
}
