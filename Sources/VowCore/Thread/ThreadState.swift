// What each thread carries: work that its calls have made ready, and what it is doing right now.
//
// The work is the thread's agenda: see Turn.swift. What it is doing is a stack of frames, one for each handler that runs,
// and of places, one for each executor that it works for. A worker of the pool has a record of what it does or was called
// to do. Each thread remembers the custom executor that it belonged to when it was last asked.

import CVow
import CVowPlatform

typealias ThreadPointer = UnsafeMutablePointer<ThreadState>

/// Starts as zeroes, so every field's zero must mean "nothing".
struct ThreadState: ~Copyable {
    var agenda: Agenda
    /// A cancelled reaction that begins to follow what its handler has returned, and the error of that.
    var givingUp: (reaction: RecordPointer, error: vow_value)?
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
    /// A custom executor's `submit` is on the stack.
    var isSubmitting: Bool
    /// A handler of the pool has returned and its result is being settled: the worker will soon look for
    /// work, and one reaction needs no other worker.
    var isAboutToLookForWork: Bool
    /// That one reaction exists.
    var owesWorker: Bool
    /// Of a worker of the pool: itself.
    var worker: WorkerPointer?
    /// The loops whose thread this is, newest first: see Loop.swift.
    let homeLock: SpinLock
    let firstHome: AtomicWord
    /// The custom executor that it belonged to last.
    let ambient: AmbientMemory
    #if VOW_CHECKED
        /// Where on the stack the innermost foreign code was called.
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

// MARK: What runs on a thread right now

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

/// One call of a handler, or of what is called as one. It stands on the stack of the thread that makes it, and is the thread's
/// innermost frame from `begin` to `end`.
struct Call {
    /// First, so that the thread's frame is the call.
    private let frame: Frame
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
    // It may take its time.
    payOwedWorker(thread)
    var call = Call(of: reaction, reading: promise, on: executor, thread)
    return withUnsafeMutablePointer(to: &call) { call in
        call.begin(thread)
        defer { call.end(thread) }
        return body()
    }
}

// MARK: What the pool knows of a worker

/// What a worker does, or was called to do.
enum Duty: Int {
    case reactions
    case drains
    case events
}

typealias WorkerPointer = UnsafeMutablePointer<Worker>

/// On the stack of its thread. All but the word under the pool's lock. To ThreadSanitizer, changing a field is an access to
/// the beginning of the struct: so the word does not stand there.
struct Worker: ~Copyable {
    /// Nil: it looks for work, or is idle.
    var duty: Duty?
    /// It is on its way.
    var isCalled = false
    var isIdle = false
    /// The waits inside its handlers: one may run a loop, and another one be inside of that.
    var waits = 0
    var nextIdle: WorkerPointer?
    /// Neighbours among all of them.
    var next: WorkerPointer?
    var previous: WorkerPointer?

    /// How often it has begun something, and what the keeper saw when it last looked.
    var begun: UInt64 = 0
    var begunBefore: UInt64 = 0
    let clock = ThreadClock.own
    var timeBefore: Int64 = 0

    /// What it sleeps on while it is idle.
    let word = AtomicWord(Parking.awake)

    init(_ duty: Duty?) {
        self.duty = duty
        isCalled = duty != nil
    }
}

// MARK: The custom executor that a thread remembers
//
// The memory keeps no executor: the executor has a list of the threads that remember it, and ends it when it is freed. All
// is under the directory's lock. Other threads write a thread's links, so these are words: to ThreadSanitizer, changing a
// plain field would be an access to all that the thread has.

struct AmbientMemory: ~Copyable {
    private let executorWord: AtomicWord
    private let next: AtomicWord
    private let previous: AtomicWord

    var executor: ExecutorPointer? {
        ExecutorPointer(bitPattern: UInt(executorWord.peek()))
    }

    /// By the thread whose memory it is. One whose end would go unnoticed remembers nothing.
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

/// The executor is freed.
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
