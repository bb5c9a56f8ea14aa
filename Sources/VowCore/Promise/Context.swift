// The one value that travels along a chain: each reaction takes the context that was set where it was made.

import CVow

/// Sets the thread's context (consumed).
func setContext(_ context: vow_value, _ thread: ThreadPointer) {
    let before = thread.pointee.context
    thread.pointee.context = context
    before.release(thread)
}

/// At the end of a thread.
func giveContextBack() {
    let thread = currentThread()
    setContext(vow_none(), thread)
    leave(thread)
}
