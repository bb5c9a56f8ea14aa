// The state of each thread. All of it is the thread's own, but for the words that say otherwise.
//
// The work that a turn has made ready is the agenda: see Turn.swift and Drain.swift. A stack of frames, one for each handler
// that runs, and of places, one for each executor that the thread works for, says what it is doing. A wait reads them: a
// `Frame` names a promise that its own handler must not wait for, and a `Place` an executor that a wait blocks.
//
// The storage is used from the thread's first call to its end (`Sources/CVowPlatform/thread.c`). The counters in its cell, one
// relaxed word each, are read, and its place in the list of threads is changed, under the registry's lock; the storage is freed
// after it has left that list. The first thread says under that lock, before it takes its storage, that the allocator stays
// (`hasBegun`). `SpareMemory` is the thread's; its counts are relaxed words, each exact, together a moment's view.

import CVow
import CVowPlatform

typealias ThreadPointer = UnsafeMutablePointer<ThreadState>

/// Starts as zeroes, so that zero means "nothing" in every field.
struct ThreadState: ~Copyable {
    var agenda: Agenda
    /// A cancelled reaction that begins to follow its handler's promise, and its error.
    var givingUp: (reaction: RecordPointer, error: vow_value)?
    var owedReads: OwedReads
    /// The surroundings of reactions made here: a context, and the end of a scope (borrowed). `reserved` of the context says
    /// whether there is a scope, so the first word tells whether there is either.
    var context: vow_value
    var scope: RecordPointer?
    /// The innermost handler that runs.
    var frame: UnsafeMutablePointer<Frame>?
    /// The innermost executor that this thread works for.
    var place: UnsafeMutablePointer<Place>?
    var waiting: WaitingPointer?
    /// The fiber whose stack the thread is on.
    var fiber: FiberPointer?
    /// How many pieces of foreign code (handlers, destructors, hooks, executors) are on the stack.
    var foreignDepth: Int32
    /// A custom executor's `submit` is on the stack.
    var isSubmitting: Bool
    /// Waits nest in each other: see `vow_nest_waits`.
    var nestsWaits: Bool
    /// A pool handler's result is being settled: the worker soon looks for work, so one reaction needs no other worker.
    var isAboutToLookForWork: Bool
    /// That reaction exists. A worker is called for it before any foreign code runs.
    var owesWorker: Bool
    var worker: WorkerPointer?
    /// The loops whose thread this is, newest first: changed under the lock of all lists and `homeLock`, read under `homeLock`.
    let homeLock: SpinLock
    let firstHome: AtomicWord
    /// The custom executor that the thread belonged to last.
    let ambient: AmbientMemory
    #if VOW_CHECKED
        /// The stack address at which the innermost foreign code was called.
        var foreignPlace: UnsafeRawPointer?
    #endif
}

@inline(__always)
private func threadState(in storage: UnsafeMutableRawPointer) -> ThreadPointer {
    (storage + ThreadCell.rest).assumingMemoryBound(to: ThreadState.self)
}

/// Nil: this thread has not entered.
func enteredThread() -> ThreadPointer? {
    vow_platform_thread().map { threadState(in: $0) }
}

/// Every exported function that may allocate, settle or run code begins here.
@inline(__always)
func currentThread() -> ThreadPointer {
    let thread = threadState(in: vow_platform_thread() ?? enterThread(start: startCore))
    #if VOW_CHECKED
        if let place = thread.pointee.foreignPlace { checkIsThere(place) }
    #endif
    return thread
}

/// `currentThread` anew, for a function whose thread may be another one after a call: a fiber's.
func threadNow() -> ThreadPointer {
    guard let storage = vow_platform_thread_now() else { fatal("a fiber is on no thread") }
    return threadState(in: storage)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// The thread's counters and its place in the list of threads.
    @inline(__always)
    var cell: UnsafeMutablePointer<ThreadCell> {
        (UnsafeMutableRawPointer(self) - ThreadCell.rest).assumingMemoryBound(to: ThreadCell.self)
    }
}

// MARK: Frames, places, calls

struct Frame {
    let reaction: RecordPointer
    /// The promise that the handler reads; it may count the reaction in `inlineLeft`.
    let promise: RecordPointer?
    /// The executor of reactions that are registered inside.
    let executor: ExecutorPointer?
    /// On a fiber, the outermost frame's is the frame of the stack that the fiber was entered from.
    var outer: UnsafeMutablePointer<Frame>?
}

/// An executor's work that runs: its handlers, and inline handlers and destructors that these cause. A wait blocks it.
struct Place {
    var executor: ExecutorPointer
    var outer: UnsafeMutablePointer<Place>?
    /// Reactions that have run here, whose references to the executor are still to be given back.
    var runs: UInt64 = 0
}

/// One call of a handler, or of code called as one. On the stack of its thread, and the innermost frame from `begin` to `end`.
struct Call {
    /// First, so that the thread's frame is the call.
    private var frame: Frame
    private let wasSubmitting: Bool
    #if VOW_CHECKED
        private let foreignPlace: UnsafeRawPointer?
    #endif

    @inline(__always)
    init(
        of reaction: RecordPointer, reading promise: RecordPointer?, on executor: ExecutorPointer?,
        _ thread: ThreadPointer
    ) {
        frame = Frame(
            reaction: reaction, promise: promise, executor: executor, outer: thread.pointee.frame)
        wasSubmitting = thread.pointee.isSubmitting
        #if VOW_CHECKED
            foreignPlace = thread.pointee.foreignPlace
        #endif
    }

    @inline(__always)
    fileprivate func restore(_ thread: ThreadPointer) {
        #if VOW_CHECKED
            thread.pointee.foreignPlace = foreignPlace
        #endif
        thread.pointee.frame = frame.outer
        thread.pointee.isSubmitting = wasSubmitting
    }
}

extension UnsafeMutablePointer where Pointee == Call {
    @inline(__always)
    func begin(_ thread: ThreadPointer) {
        // Work that foreign code gives to an executor here runs here, though a `submit` may be further down the stack.
        thread.pointee.isSubmitting = false
        thread.pointee.frame = UnsafeMutableRawPointer(self).assumingMemoryBound(to: Frame.self)
        thread.pointee.foreignDepth &+= 1
        #if VOW_CHECKED
            thread.pointee.foreignPlace = UnsafeRawPointer(self)
        #endif
    }

    @inline(__always)
    func end(_ thread: ThreadPointer) {
        thread.pointee.foreignDepth &-= 1
        pointee.restore(thread)
    }
}

/// Calls foreign code as the handler of a reaction.
@inline(__always)
func withFrame<Result>(
    of reaction: RecordPointer, _ promise: RecordPointer?, on executor: ExecutorPointer?,
    _ thread: ThreadPointer, _ body: () -> Result
) -> Result {
    // The code may take long.
    payOwedWorker(thread)
    var call = Call(of: reaction, reading: promise, on: executor, thread)
    return withUnsafeMutablePointer(to: &call) { call in
        call.begin(thread)
        defer { call.end(thread) }
        return body()
    }
}

// MARK: Workers of the pool

/// The kind of work that a worker does, or was called for.
enum Duty: Int {
    case reactions
    case drains
    case events
}

typealias WorkerPointer = UnsafeMutablePointer<Worker>

/// On the stack of its thread. Under the pool's lock, but for the word, which does not come first: to ThreadSanitizer, changing
/// a field is an access to the beginning of the struct.
struct Worker: ~Copyable {
    /// Nil: the worker looks for work, or is idle.
    var duty: Duty?
    /// The worker is on its way.
    var isCalled = false
    var isIdle = false
    /// The waits inside its handlers: one may run a loop, with another inside.
    var waits = 0
    var nextIdle: WorkerPointer?
    /// Neighbours in the list of all workers.
    var next: WorkerPointer?
    var previous: WorkerPointer?

    /// The number of pieces of work begun, now and at the keeper's last look.
    var begun: UInt64 = 0
    var begunBefore: UInt64 = 0
    let clock = ThreadClock.own
    var timeBefore: Int64 = 0

    /// An idle worker sleeps on this word.
    let word = AtomicWord(Parking.awake)

    init(_ duty: Duty?) {
        self.duty = duty
        isCalled = duty != nil
    }
}

// MARK: The custom executor that a thread remembers
//
// The memory keeps no executor: an executor has a list of the threads that remember it, and ends it when it is freed. All is
// under the directory's lock. Other threads write a thread's links, so these are words: to ThreadSanitizer, changing a plain
// field would be an access to the whole state.

struct AmbientMemory: ~Copyable {
    private let executorWord: AtomicWord
    private let next: AtomicWord
    private let previous: AtomicWord

    var executor: ExecutorPointer? {
        ExecutorPointer(bitPattern: UInt(executorWord.peek()))
    }

    /// Called by the thread itself. A thread whose end would go unnoticed remembers nothing.
    func remember(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
        if !thread.cell.pointee.isListed { return }
        forget()
        let first = executor.pointee.firstRemembering
        executorWord.poke(word(of: executor))
        next.poke(word(of: first))
        VowCore.thread(in: first)?.pointee.ambient.previous.poke(word(of: thread))
        executor.pointee.firstRemembering = UnsafeMutableRawPointer(thread)
    }

    func forget() {
        guard let executor = executor else { return }
        let (after, before) = (address(in: next), address(in: previous))
        VowCore.thread(in: after)?.pointee.ambient.previous.poke(word(of: before))
        if let before = VowCore.thread(in: before) {
            before.pointee.ambient.next.poke(word(of: after))
        } else {
            executor.pointee.firstRemembering = after
        }
        executorWord.poke(0)
        next.poke(0)
        previous.poke(0)
    }

    /// The list of its executor was emptied.
    func beAlone(_ thread: ThreadPointer) {
        next.poke(0)
        previous.poke(0)
        executor?.pointee.firstRemembering = UnsafeMutableRawPointer(thread)
    }
}

func forgetByAll(_ executor: ExecutorPointer) {
    while let thread = thread(in: executor.pointee.firstRemembering) {
        thread.pointee.ambient.forget()
    }
}

private func thread(in address: UnsafeMutableRawPointer?) -> ThreadPointer? {
    address?.assumingMemoryBound(to: ThreadState.self)
}

private func address(in word: borrowing AtomicWord) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(word.peek()))
}
