// The one value that travels along a chain: each reaction takes the context that was set where it was made.

import CVow

/// Sets the thread's context (consumed).
func setContext(_ context: vow_value, _ thread: ThreadPointer) {
    let before = thread.pointee.context
    thread.pointee.context = context
    before.release(thread)
}

/// A user's function in the middle of a piece of work: what it sets ends with it.
@inline(__always)
func keepingContext<Result>(_ body: () -> Result) -> Result {
    let thread = currentThread()
    let carried = thread.pointee.context.retained()
    let result = body()
    setContext(carried, thread)
    return result
}
