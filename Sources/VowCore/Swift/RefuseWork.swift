// Work that a custom executor of the Swift face was given and has lost.

/// Instead of `run(work)`: nobody will run it. Its promise is rejected with VOW_ESHUTDOWN, and the handler never runs.
package func refuseWork(_ work: UnsafeMutableRawPointer) {
    let reaction = work.assumingMemoryBound(to: Record.self)
    let thread = currentThread()
    asOneStep(thread) { refuse(reaction, .shutDown, thread) }
    leave(thread)
}
