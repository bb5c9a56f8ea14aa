// What each thread carries: work that its calls have made ready, and what it is doing right now.

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
