// What runs on a thread right now: handlers, and the executors that it works for.

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
