// Threads that wait inside a handler of a serial executor. Work that reaches such an executor, or a
// promise that begins to follow another, may have made their wait endless: they are told to look again.

/// On the stack of the waiting thread; linked under the lock.
struct BlockedOwner {
    let waiter: RecordPointer
    let thread: UnsafeMutableRawPointer
    var next: UnsafeMutablePointer<BlockedOwner>?
    var previous: UnsafeMutablePointer<BlockedOwner>?

    init(waiter: RecordPointer, thread: UnsafeMutableRawPointer) {
        self.waiter = waiter
        self.thread = thread
    }
}

/// In the single order with the steps that make a wait endless.
private let blockedOwnersCount = AtomicWord(0)

private let blockedOwnersLock = SpinLock()
nonisolated(unsafe) private var firstBlockedOwner: UnsafeMutablePointer<BlockedOwner>?

func addBlockedOwner(_ owner: UnsafeMutablePointer<BlockedOwner>) {
    blockedOwnersLock.withLock {
        owner.pointee.next = firstBlockedOwner
        firstBlockedOwner?.pointee.previous = owner
        firstBlockedOwner = owner
    }
    _ = blockedOwnersCount.addOrdered(1)
    orderStoresBeforeLoads()
}

func removeBlockedOwner(_ owner: UnsafeMutablePointer<BlockedOwner>) {
    _ = blockedOwnersCount.subtractOrdered(1)
    blockedOwnersLock.withLock {
        let next = owner.pointee.next
        let previous = owner.pointee.previous
        next?.pointee.previous = previous
        if let previous { previous.pointee.next = next } else { firstBlockedOwner = next }
    }
}

/// After work was given to a serial executor, or a promise began to follow another. The step before and
/// this look, and on the other side the count and the look ahead, must not pass each other: fences.
@inline(__always)
func nudgeBlockedOwners() {
    orderStoresBeforeLoads()
    if blockedOwnersCount.loadOrdered() != 0 { nudgeAll() }
}

private func nudgeAll() {
    blockedOwnersLock.withLock {
        var owner = firstBlockedOwner
        while let current = owner {
            current.pointee.waiter.nudge()
            owner = current.pointee.next
        }
    }
}

/// Around a fork.
func lockBlockedOwners() { blockedOwnersLock.lock() }
func unlockBlockedOwners() { blockedOwnersLock.unlock() }

/// In a forked child, under the lock: the stacks of other threads are gone.
func forgetBlockedOwners(of survivor: UnsafeMutableRawPointer) {
    var owner = firstBlockedOwner
    firstBlockedOwner = nil
    var left: UInt64 = 0
    while let current = owner {
        owner = current.pointee.next
        if current.pointee.thread != survivor { continue }
        current.pointee.previous = nil
        current.pointee.next = firstBlockedOwner
        firstBlockedOwner?.pointee.previous = current
        firstBlockedOwner = current
        left += 1
    }
    blockedOwnersCount.storeRelaxed(left)
}
