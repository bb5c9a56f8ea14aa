// The threads that wait. Those inside handlers and other work are told to look again by whatever may have
// made their wait endless: work that reaches an executor that they block, a promise that begins to follow
// another. In a forked child the waits of other threads are forgotten, because their stacks are gone.

/// On the stack of the waiting thread; linked under the lock.
struct WaitingThread {
    let waiter: RecordPointer
    /// Borrowed from the caller of the wait.
    let promise: RecordPointer
    let thread: UnsafeMutableRawPointer
    /// Its wait may become endless.
    let isWatched: Bool
    var next: UnsafeMutablePointer<WaitingThread>?
    var previous: UnsafeMutablePointer<WaitingThread>?

    init(
        waiter: RecordPointer, promise: RecordPointer, thread: UnsafeMutableRawPointer,
        isWatched: Bool
    ) {
        self.waiter = waiter
        self.promise = promise
        self.thread = thread
        self.isWatched = isWatched
    }
}

private typealias WaitingPointer = UnsafeMutablePointer<WaitingThread>

/// In the single order with the steps that make a wait endless.
private let watchedCount = AtomicWord(0)

private let waitingThreadsLock = SpinLock()
nonisolated(unsafe) private var firstWaiting: UnsafeMutablePointer<WaitingThread>?

/// Calls the body, which enlists the waiter and takes it out again, while the thread is on the list.
func whileListed(_ waiting: WaitingThread, _ body: () -> WaitResult) -> WaitResult {
    var waiting = waiting
    return withUnsafeMutablePointer(to: &waiting) { waiting in
        waitingThreadsLock.withLock { link(waiting) }
        if waiting.pointee.isWatched {
            _ = watchedCount.addOrdered(1)
            // Announced before the body looks ahead: one of the two sees the other.
            orderStoresBeforeLoads()
        }
        defer {
            if waiting.pointee.isWatched { _ = watchedCount.subtractOrdered(1) }
            waitingThreadsLock.withLock { unlink(waiting) }
        }
        return body()
    }
}

private func link(_ waiting: WaitingPointer) {
    waiting.pointee.previous = nil
    waiting.pointee.next = firstWaiting
    firstWaiting?.pointee.previous = waiting
    firstWaiting = waiting
}

private func unlink(_ waiting: WaitingPointer) {
    let next = waiting.pointee.next
    let previous = waiting.pointee.previous
    next?.pointee.previous = previous
    if let previous { previous.pointee.next = next } else { firstWaiting = next }
}

/// After work was given to an executor that a wait may block, or a promise began to follow another. The step
/// before and this look, and on the other side the count and the look ahead, must not pass each other: fences.
@inline(__always)
func nudgeWaitingThreads() {
    orderStoresBeforeLoads()
    if watchedCount.loadOrdered() != 0 { nudgeAll() }
}

private func nudgeAll() {
    waitingThreadsLock.withLock {
        var waiting = firstWaiting
        while let current = waiting {
            if current.pointee.isWatched { current.pointee.waiter.nudge() }
            waiting = current.pointee.next
        }
    }
}

/// Around a fork.
func lockWaitingThreads() { waitingThreadsLock.lock() }
func unlockWaitingThreads() { waitingThreadsLock.unlock() }

/// In a forked child, under the lock.
func forgetWaitingThreads(but survivor: UnsafeMutableRawPointer) {
    var waiting = firstWaiting
    firstWaiting = nil
    var watched: UInt64 = 0
    while let current = waiting {
        waiting = current.pointee.next
        if current.pointee.thread == survivor {
            link(current)
            if current.pointee.isWatched { watched += 1 }
        } else {
            current.pointee.promise.pointee.state.removeAsOnlyThread(current.pointee.waiter)
        }
    }
    watchedCount.storeRelaxed(watched)
}
