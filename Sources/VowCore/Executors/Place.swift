// That a thread works for an executor, and what it owes it afterwards.

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

extension ExecutorPointer {
    /// Nil: what it runs may as well be run by any thread. Only the address is looked at.
    var ownsThread: ExecutorPointer? {
        self == ownExecutors.pool || self == ownExecutors.inline ? nil : self
    }
}

/// This thread works for the executor, or is the one that its loop is run by. A custom executor is not asked.
@inline(never)
func isAt(_ executor: ExecutorPointer, _ thread: ThreadPointer) -> Bool {
    if thread.pointee.place?.pointee.executor == executor { return true }
    return executor.pointee.kind == .loop
        && executor.loop.pointee.home.loadRelaxed() == word(of: thread)
}

/// The executor of a reaction that has run: whoever works for it gives all those references back together.
@inline(__always)
func releaseAfterRun(_ executor: ExecutorPointer?, _ thread: ThreadPointer) {
    if let place = thread.pointee.place, place.pointee.executor == executor {
        place.pointee.runs &+= 1
    } else {
        executor?.release(thread)
    }
}
