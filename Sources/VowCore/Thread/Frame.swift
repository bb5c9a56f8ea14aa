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

/// Calls foreign code as the handler of a reaction.
@inline(__always)
func withFrame<Result>(
    of reaction: RecordPointer, _ promise: RecordPointer?, on executor: ExecutorPointer?,
    _ thread: ThreadPointer, _ body: () -> Result
) -> Result {
    var frame = Frame(
        reaction: reaction, promise: promise, executor: executor, outer: thread.pointee.frame)
    // Work that is given here runs here, though a `submit` may be further down the stack.
    let isSubmitting = thread.pointee.isSubmitting
    thread.pointee.isSubmitting = false
    defer {
        thread.pointee.frame = frame.outer
        thread.pointee.isSubmitting = isSubmitting
    }
    return withUnsafeMutablePointer(to: &frame) { frame in
        thread.pointee.frame = frame
        return runForeign(thread, body)
    }
}
