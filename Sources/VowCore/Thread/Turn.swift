// A turn of a thread: what the library does between two calls of foreign code, as one step.

/// Has `body` done before anything that could call foreign code: hand-overs, contexts to destroy, objects to
/// free. They might wait for what `body` has begun.
@inline(__always)
func asOneStep(_ thread: ThreadPointer, _ body: () -> Void) {
    if thread.pointee.agenda.isHandingOver {
        body()
        drainOutcomes(thread)
        return
    }
    thread.pointee.agenda.isHandingOver = true
    body()
    endStep(thread)
}

@inline(never)
private func endStep(_ thread: ThreadPointer) {
    if !thread.hasDone(through: .handOver) { drainHandOver(thread) }
    thread.pointee.agenda.isHandingOver = false
    if thread.hasLeftovers { drainLeftovers(thread) }
}

/// And every outermost one ends here: inline handlers run as its last act.
@inline(__always)
func leave(_ thread: ThreadPointer) {
    if thread.pointee.foreignDepth == 0 && !thread.pointee.agenda.ready.isEmpty {
        drainReady(thread)
    }
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
