// A loop: its memory, making it, its end, and the thread that has it.
//
// The memory of a loop is freed with its executor, to which each handle, run and reaction has a reference. Destroying a loop
// rejects everything in it before the call returns. A thread has a list of the loops that it made or ran last, newest first;
// the first loop gets the thread's reactions, delays and watches. A virtual loop's clock stands still until the program
// moves it.

import CVow
import CVowPlatform

typealias LoopPointer = UnsafeMutablePointer<LoopRecord>

/// The fields are constant or atomic. Other changing data is behind the pointers, or in the executor's batch, which only the
/// runner touches.
struct LoopRecord: ~Copyable {
    let executor: ExecutorPointer
    /// The set of `event`, `timer` and the watched descriptors; `vow_loop_fd` returns it.
    let set: Int32
    /// Raised while there is work that the runner has not seen.
    let event: Int32
    let timer: Int32
    let isVirtual: Bool
    let clock: ClockPointer
    let watches: WatchTablePointer
    /// The thread that runs the loop; 0: none.
    let runner = AtomicWord(0)
    /// A request that the run return. Set before the event is raised.
    let isWoken = AtomicWord(0)
    let isClosed = AtomicWord(0)
    /// Set in a forked child: the parent uses the same descriptors.
    let isCopy = AtomicWord(0)
    /// The fibers that are suspended on the loop and cannot go on on another thread than its home, and a fiber that is kept
    /// for running the loop. Written by the home.
    let firstPinned = AtomicWord(0)
    let idleFiber = AtomicWord(0)
    /// The thread whose reactions come here, and that thread's next loop: see "The loops of a thread".
    let home = AtomicWord(0)
    let nextHome = AtomicWord(0)
    /// Neighbours in the list of all loops.
    let next = AtomicWord(0)
    let previous = AtomicWord(0)
    #if VOW_CHECKED
        var seal = Seal.live(.loop)
    #endif
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == LoopRecord {
    func retain() { pointee.executor.retain() }
    func release(_ thread: ThreadPointer) { pointee.executor.release(thread) }

    var isClosed: Bool { pointee.isClosed.loadRelaxed() != 0 }
    var isCopy: Bool { pointee.isCopy.loadRelaxed() != 0 }
    var isUsable: Bool { !isClosed && !isCopy }

    /// Fibers of another thread are suspended here, which only that thread can go on with.
    func isHeldByFibers(butOf thread: ThreadPointer) -> Bool {
        pointee.firstPinned.loadRelaxed() != 0 && pointee.home.loadRelaxed() != word(of: thread)
    }

    func isRun(by thread: ThreadPointer) -> Bool {
        pointee.runner.loadRelaxed() == word(of: thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ExecutorRecord {
    /// Only a loop's executor has a loop.
    var loop: LoopPointer {
        guard let loop = pointee.context else { fatal("a loop's executor has no loop") }
        return loop.assumingMemoryBound(to: LoopRecord.self)
    }
}

func loop(in word: borrowing AtomicWord) -> LoopPointer? {
    LoopPointer(bitPattern: UInt(word.loadRelaxed()))
}

// MARK: Making and freeing loops

private var tablesStart: Int { (MemoryLayout<LoopRecord>.stride + 15) & ~15 }
private var clockStart: Int { tablesStart + WatchTable.size }
private var wheelStart: Int { clockStart + MemoryLayout<Clock>.stride }
private var loopSize: Int { wheelStart + TimerWheel.size }

/// Returns nil without memory or descriptors.
func makeLoop(isVirtual: Bool, _ thread: ThreadPointer) -> LoopPointer? {
    let set = vow_platform_make_set()
    let event = vow_platform_make_event()
    let timer = vow_platform_make_timer()
    let isComplete =
        set >= 0 && event >= 0 && timer >= 0
        && vow_platform_watch(set, event, 1) == 0 && vow_platform_watch(set, timer, 1) == 0
    if isComplete, let memory = takeMemory(loopSize) {
        if let executor = makeLoopExecutor(memory) {
            let stripe = nextStripe()
            let clock = (memory + clockStart).bindMemory(to: Clock.self, capacity: 1)
            clock.initialize(
                to: Clock(
                    stripe: stripe, descriptor: timer, isVirtual: isVirtual,
                    wheelIn: memory + wheelStart))
            let loop = memory.bindMemory(to: LoopRecord.self, capacity: 1)
            loop.initialize(
                to: LoopRecord(
                    executor: executor, set: set, event: event, timer: timer,
                    isVirtual: isVirtual, clock: clock,
                    watches: makeWatchTable(in: memory + tablesStart, set: set, stripe: stripe)))
            enterLoop(loop, home: thread)
            return loop
        }
        giveMemoryBack(memory, loopSize)
    }
    if set >= 0 { vow_platform_close(set) }
    if event >= 0 { vow_platform_close(event) }
    if timer >= 0 { vow_platform_close(timer) }
    return nil
}

/// Runs when the executor's last reference is gone, so after `destroyLoop`.
func freeLoop(_ loop: LoopPointer) {
    // A thread that pushed work just before the loop was closed may have raised the event until now.
    vow_platform_close(loop.pointee.event)
    #if VOW_CHECKED
        loop.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(loop, loopSize)
}

// MARK: The end of a loop

/// - Parameter loop: the handle's reference, consumed.
func destroyLoop(_ loop: LoopPointer, _ thread: ThreadPointer) {
    if !loop.isCopy && loop.isHeldByFibers(butOf: thread) {
        fatal("vow_loop_destroy", ": handlers of another thread wait there")
    }
    if loop.pointee.isClosed.exchangeAcquireRelease(1) != 0 { return }
    withdrawLoop(loop)
    let isBatchWhole = waitForRunner(of: loop, thread)
    // Everything is rejected before foreign code runs, which might wait for any of it.
    asOneStep(thread) {
        closeQueue(of: loop.pointee.executor, isBatchWhole: isBatchWhole, thread)
        closeClock(loop.pointee.clock, thread)
        closeWatches(loop.pointee.watches, thread)
    }
    // Inside a context's destructor, `asOneStep` has put the queue's contexts aside.
    drainSkipped(thread)
    leave(thread)
    refusePinned(of: loop, thread)
    endIdleFiber(of: loop, thread)
    // No thread arms or watches any more. The event stays for threads that have just pushed work.
    vow_platform_close(loop.pointee.set)
    vow_platform_close(loop.pointee.timer)
    loop.release(thread)
}

/// Ends a run by another thread, which the contract forbids. Returns false in a forked child if the parent's runner may have
/// been in the middle of a change.
private func waitForRunner(of loop: LoopPointer, _ thread: ThreadPointer) -> Bool {
    if loop.isRun(by: thread) { return true }
    if loop.isCopy { return loop.pointee.runner.loadAcquire() == 0 }
    var pause = Backoff()
    while loop.pointee.runner.loadAcquire() != 0 {
        vow_platform_raise(loop.pointee.event)
        pause.wait()
    }
    return true
}

func closeClock(_ clock: ClockPointer, _ thread: ThreadPointer) {
    let stripe = clock.pointee.stripe
    withStripe(stripe) { clock.pointee.isClosed = true }
    while let node = withStripe(stripe, { clock.pointee.takeDue(at: Int64.max) }) {
        node.pointee.fire(node, .shutDown, thread)
    }
}

// MARK: The loops of a thread
//
// A list changes under the lock of all lists and its thread's own lock; the thread reads it under its own lock. So another
// thread may take a loop over, and no thread reads freed memory.

private let loopsLock = SpinLock()
nonisolated(unsafe) private var firstLoop: LoopPointer?

func enterLoop(_ loop: LoopPointer, home thread: ThreadPointer) {
    loopsLock.withLock {
        loop.pointee.next.storeRelaxed(word(of: firstLoop))
        firstLoop?.pointee.previous.storeRelaxed(word(of: loop))
        firstLoop = loop
        moveHome(of: loop, to: thread)
    }
}

func withdrawLoop(_ loop: LoopPointer) {
    loopsLock.withLock {
        moveHome(of: loop, to: nil)
        let after = VowCore.loop(in: loop.pointee.next)
        let before = VowCore.loop(in: loop.pointee.previous)
        after?.pointee.previous.storeRelaxed(word(of: before))
        if let before {
            before.pointee.next.storeRelaxed(word(of: after))
        } else {
            firstLoop = after
        }
    }
}

/// Makes the loop the first one of the thread that begins to run it.
func takeHome(of loop: LoopPointer, _ thread: ThreadPointer) {
    if thread.pointee.firstHome.loadRelaxed() == word(of: loop) { return }
    loopsLock.withLock { moveHome(of: loop, to: thread) }
}

/// The caller holds the lock of all lists.
private func moveHome(of loop: LoopPointer, to thread: ThreadPointer?) {
    if let old = ThreadPointer(bitPattern: UInt(loop.pointee.home.loadRelaxed())) {
        old.pointee.homeLock.withLock { unlink(loop, old) }
    }
    loop.pointee.home.storeRelaxed(thread.map { word(of: $0) } ?? 0)
    if let thread {
        thread.pointee.homeLock.withLock {
            loop.pointee.nextHome.storeRelaxed(thread.pointee.firstHome.loadRelaxed())
            thread.pointee.firstHome.storeRelaxed(word(of: loop))
        }
    }
}

private func unlink(_ loop: LoopPointer, _ thread: ThreadPointer) {
    let after = loop.pointee.nextHome.loadRelaxed()
    if thread.pointee.firstHome.loadRelaxed() == word(of: loop) {
        thread.pointee.firstHome.storeRelaxed(after)
        return
    }
    var current = VowCore.loop(in: thread.pointee.firstHome)
    while let before = current {
        current = VowCore.loop(in: before.pointee.nextHome)
        if current == loop { before.pointee.nextHome.storeRelaxed(after) }
    }
}

/// The first loop of the thread, owned.
@inline(__always)
func homeLoop(_ thread: ThreadPointer) -> LoopPointer? {
    if thread.pointee.firstHome.loadRelaxed() == 0 { return nil }
    return homeLoopSlowly(thread)
}

private func homeLoopSlowly(_ thread: ThreadPointer) -> LoopPointer? {
    thread.pointee.homeLock.withLock {
        let loop = VowCore.loop(in: thread.pointee.firstHome)
        loop?.retain()
        return loop
    }
}

/// The loop that the thread works for, else its first loop; owned.
func loopHere(_ thread: ThreadPointer) -> LoopPointer? {
    if let executor = thread.pointee.place?.pointee.executor, executor.pointee.kind == .loop,
        !executor.loop.isClosed
    {
        executor.retain()
        return executor.loop
    }
    return homeLoop(thread)
}

/// The ending thread's loops have no home until a thread runs them. A wait that is suspended there blocks the thread.
func leaveHomes(_ thread: ThreadPointer) {
    while let loop = homeLoop(thread) {
        let isPinned = loop.pointee.firstPinned.loadRelaxed() != 0
        if isPinned && loop.isUsable {
            refusePinned(of: loop, thread)
            // The steps of the others come to the loop.
            while loop.isUsable && loop.pointee.firstPinned.loadRelaxed() != 0 {
                if runOnce(loop, until: .after(Parking.longEnoughToTrim), thread) < 0 { break }
            }
        }
        loopsLock.withLock {
            if loop.pointee.home.loadRelaxed() == word(of: thread) { moveHome(of: loop, to: nil) }
        }
        loop.release(thread)
    }
}

func lockLoops() { loopsLock.lock() }
func unlockLoops() { loopsLock.unlock() }

/// In a forked child, under all locks: loops accept nothing, and loops of other threads have no home.
func turnLoopsIntoCopies(but survivor: ThreadPointer?) {
    var current = firstLoop
    while let loop = current {
        current = VowCore.loop(in: loop.pointee.next)
        loop.pointee.isCopy.storeRelaxed(1)
        loop.pointee.clock.pointee.isClosed = true
        loop.pointee.watches.pointee.isClosed = true
        if loop.pointee.home.loadRelaxed() != survivor.map({ word(of: $0) }) ?? 0 {
            loop.pointee.home.storeRelaxed(0)
            // No thread of the child can go on with these.
            loop.pointee.firstPinned.storeRelaxed(0)
        }
    }
}

// MARK: Virtual time

/// The caller is the runner, and nothing is ready.
func moveToNextTimer(of loop: LoopPointer, before limit: Int64) -> ClockMove {
    let clock = loop.pointee.clock
    return withStripe(clock.pointee.stripe) {
        clock.pointee.moveToNextTimer(before: limit)
    }
}

func advance(_ loop: LoopPointer, by nanoseconds: Int64, _ thread: ThreadPointer) -> Int32 {
    whileRunning(loop, thread) { advanceAsRunner(loop, by: nanoseconds, thread) } ?? VOW_EINVAL
}

private func advanceAsRunner(
    _ loop: LoopPointer, by nanoseconds: Int64, _ thread: ThreadPointer
) -> Int32 {
    let clock = loop.pointee.clock
    let stripe = clock.pointee.stripe
    let (sum, overflow) = withStripe(stripe) { clock.pointee.now }
        .addingReportingOverflow(nanoseconds)
    let end = overflow ? Int64.max : sum
    var ran = 0
    while loop.isUsable {
        if thread.pointee.foreignDepth > 0 && !hasStackLeft() { return VOW_EDEADLOCK }
        if !drainInsideWait(thread) { return VOW_EDEADLOCK }
        let now = runAside(loop, thread, until: nil)
        ran += now
        if now > 0 { continue }
        if !loop.isUsable { break }
        if case .moved = moveToNextTimer(of: loop, before: end) { continue }
        withStripe(stripe) { clock.pointee.virtualNow = max(clock.pointee.now, end) }
        return Int32(clamping: ran)
    }
    return loop.isClosed ? VOW_ESHUTDOWN : VOW_EFORKED
}
