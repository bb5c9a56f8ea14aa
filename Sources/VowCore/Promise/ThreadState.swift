// What each thread carries: work that its calls have made ready, and what it is doing right now.

import CVow
import CVowPlatform

typealias ThreadPointer = UnsafeMutablePointer<ThreadState>

/// Starts as zeroes, so every field's zero must mean "nothing".
struct ThreadState: ~Copyable {
    /// Followers and observers taken from settled promises, on the way to their outcome.
    var outcomes: SlotList
    /// Observers that were stopped, on the way to giving up what they observed.
    var leaving: MemberList
    /// Reactions taken from settled promises, on the way to their executors.
    var handOver: MemberList
    /// The promise of the first batch in that list; nil: ask the batch's last member.
    var batchPromise: RecordPointer?
    /// The promise whose last member is on its way to its executor: then its hand-over is finished.
    var handedOver: RecordPointer?
    /// Reactions that no handler will run for and that have a context to destroy; those that follow, and are to be settled
    /// after that.
    var skipped: MemberList
    /// The same, of which executors have others of their links.
    var withdrawn: SlotList
    /// A cancelled reaction that begins to follow what its handler has returned, and the error of that.
    var givingUp: (reaction: RecordPointer, error: vow_value)?
    /// Inline reactions and subscriptions, to run when no foreign code is on the stack.
    var ready: MemberList
    /// Objects to free, linked through their counts.
    var dead: UInt64
    /// What producers asked to be called: a ring, in which the newest comes before the oldest.
    var newestHook: HookPointer?
    var owedReads: OwedReads
    /// What reactions made here carry along: a value, and the end of the scope that they are made under (borrowed). Of
    /// the value, `reserved` says whether there is a scope, so that one look at the first word tells whether anything is
    /// carried.
    var context: vow_value
    var scope: RecordPointer?
    /// The innermost handler that runs on this thread.
    var frame: UnsafeMutablePointer<Frame>?
    /// The innermost executor that this thread works for.
    var place: UnsafeMutablePointer<Place>?
    /// The innermost wait of this thread.
    var waiting: WaitingPointer?
    /// How much foreign code (handlers, destructors, hooks, executors) is on the stack.
    var foreignDepth: Int32
    var isHandingOver: Bool
    var isTakingOutcomes: Bool
    var isSkipping: Bool
    var isReclaiming: Bool
    /// A custom executor's `submit` is on the stack.
    var isSubmitting: Bool
    /// A handler of the pool has returned and its result is being settled: the worker will soon look for
    /// work, and one reaction needs no other worker.
    var isAboutToLookForWork: Bool
    /// That one reaction exists.
    var owesWorker: Bool
    /// Of a worker of the pool: itself.
    var worker: WorkerPointer?
    /// The loops whose thread this is, newest first: see `Homes`.
    let homeLock: SpinLock
    let firstHome: AtomicWord
    /// The custom executor that it belonged to last.
    let ambient: AmbientMemory
    #if VOW_CHECKED
        /// Where on the stack the innermost foreign code was called.
        var foreignPlace: UnsafeRawPointer?
    #endif
}

/// A handler that is running.
struct Frame {
    let reaction: RecordPointer
    /// The promise it reads, which counts it among its inline ones perhaps.
    let promise: RecordPointer?
    /// What reactions registered inside it get.
    let executor: ExecutorPointer?
    let outer: UnsafeMutablePointer<Frame>?
}

/// An executor's work that is running: its handlers, and what they bring about on this thread (inline
/// handlers, destructors). Whatever waits in it blocks the executor.
struct Place {
    let executor: ExecutorPointer
    let outer: UnsafeMutablePointer<Place>?
    /// Reactions that have run here, whose references to the executor are still to be given back.
    var runs: UInt64 = 0
}

/// Works for an executor, which the caller keeps alive.
@inline(__always)
func withPlace(at executor: ExecutorPointer, _ thread: ThreadPointer, _ body: () -> Void) {
    var place = Place(executor: executor, outer: thread.pointee.place)
    withUnsafeMutablePointer(to: &place) {
        thread.pointee.place = $0
        body()
    }
    thread.pointee.place = place.outer
    executor.release(place.runs, thread)
}

@inline(__always)
private func threadState(in storage: UnsafeMutableRawPointer) -> ThreadPointer {
    (storage + ThreadCell.rest).assumingMemoryBound(to: ThreadState.self)
}

/// Nil: this thread has not entered.
private func enteredThread() -> ThreadPointer? {
    vow_platform_thread().map { threadState(in: $0) }
}

/// Every exported function that may allocate, settle or run anything begins here.
@inline(__always)
func currentThread() -> ThreadPointer {
    let thread = threadState(in: vow_platform_thread() ?? enterThread(start: startCore))
    #if VOW_CHECKED
        if let place = thread.pointee.foreignPlace { checkIsThere(place) }
    #endif
    return thread
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// The thread's counters and its place in the list of threads.
    @inline(__always)
    var cell: UnsafeMutablePointer<ThreadCell> {
        (UnsafeMutableRawPointer(self) - ThreadCell.rest).assumingMemoryBound(to: ThreadCell.self)
    }
}

/// And every outermost one ends here: inline handlers run as its last act.
@inline(__always)
func leave(_ thread: ThreadPointer) {
    if thread.pointee.foreignDepth == 0 && !thread.pointee.ready.isEmpty { runReady(thread) }
}

@inline(__always)
func runForeign<Result>(_ thread: ThreadPointer, _ body: () -> Result) -> Result {
    thread.pointee.foreignDepth &+= 1
    defer { thread.pointee.foreignDepth &-= 1 }
    // It may take its time.
    payOwedWorker(thread)
    #if VOW_CHECKED
        var outer = thread.pointee.foreignPlace
        return withUnsafeMutablePointer(to: &outer) { outer in
            thread.pointee.foreignPlace = UnsafeRawPointer(outer)
            defer { thread.pointee.foreignPlace = outer.pointee }
            return body()
        }
    #else
        return body()
    #endif
}

/// Runs once, before the first thread has entered.
private func startCore() {
    let isTooLarge =
        MemoryLayout<ThreadCell>.size > ThreadCell.spares
        || ThreadCell.spares + MemoryLayout<SpareMemory>.size > ThreadCell.rest
        || ThreadCell.rest + MemoryLayout<ThreadState>.size > VOW_THREAD_STORAGE_SIZE
    if isTooLarge {
        fatal("a thread's storage is too small for its state")
    }
    checkRecordLayout()
    vow_platform_begin_copy()
    var storage = vow_platform_static()!
    prepareOwnExecutors(&storage)
    prepareOwnErrors(&storage)
    prepareOwnPromises(&storage)
    prepareStripes(&storage)
    prepareWaitingThreads(&storage)
    prepareListeners(&storage)
    prepareExecutorDirectory(&storage)
    prepareProcessClock(&storage)
    prepareProcessWatches(&storage)
    if storage > vow_platform_static()! + Int(VOW_STATIC_STORAGE_SIZE) {
        fatal("the process's storage is too small")
    }
    beforeThreadLeaves = {
        guard let thread = enteredThread() else { return }
        leaveHomes(thread)
        setContext(vow_none(), thread)
        // Last: a destructor may have asked.
        forgetAmbient(thread)
    }
    watchForks(before: holdLocks, inParent: letLocksGo, inChild: beginAsChild)
    traceAsEnvironmentSays()
}

/// All global locks are held across a fork, so that the child finds whole lists behind them.
private func holdLocks() {
    closeSiteGate()
    threadRegistryLock.lock()
    lockLoops()
    lockStripes()
    lockWaitingThreads()
    lockPool()
    lockStandardExecutor()
    lockExecutorDirectory()
    unhandledReporterLock.lock()
    listenersLock.lock()
    lockDescents()
    lockTrace()
    lockFreedMemory()
}

private func letLocksGo() {
    unlockFreedMemory()
    unlockTrace()
    unlockDescents()
    listenersLock.unlock()
    unhandledReporterLock.unlock()
    unlockExecutorDirectory()
    unlockStandardExecutor()
    unlockPool()
    unlockWaitingThreads()
    unlockStripes()
    unlockLoops()
    threadRegistryLock.unlock()
    openSiteGate()
}

private func beginAsChild() {
    forkedFlag.storeRelaxed(1)
    refusalFlag.storeRelaxed(1)
    forgetOtherThreads()
    forgetDescents()
    // It may never have entered, and must not now: the registry is locked.
    forgetWaitingThreads(but: enteredThread())
    forgetAmbientsOfOthers(but: enteredThread())
    turnLoopsIntoCopies(but: enteredThread())
    turnProcessWatchesIntoCopy()
    forgetTrace()
    forgetReports()
    letLocksGo()
    forgetSiteGate()
}
