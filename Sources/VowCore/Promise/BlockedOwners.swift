// Threads that wait inside a handler of a serial executor. Work that reaches such an executor, or a
// promise that begins to follow another, may have made their wait endless: they are told to look again.

/// On the stack of the waiting thread; linked under the lock.
struct BlockedOwner {
    let waiter: RecordPointer
    var next: UnsafeMutablePointer<BlockedOwner>?
    var previous: UnsafeMutablePointer<BlockedOwner>?

    init(waiter: RecordPointer) { self.waiter = waiter }
}

/// In the single order with the steps that make a wait endless.
private let blockedOwnersCount = AtomicWord(0)

let blockedOwnersLock = SpinLock()
nonisolated(unsafe) private var firstBlockedOwner: UnsafeMutablePointer<BlockedOwner>?

func addBlockedOwner(_ owner: UnsafeMutablePointer<BlockedOwner>) {
    blockedOwnersLock.withLock {
        owner.pointee.next = firstBlockedOwner
        firstBlockedOwner?.pointee.previous = owner
        firstBlockedOwner = owner
    }
    _ = blockedOwnersCount.addOrdered(1)
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

/// After work was given to a serial executor, or a promise began to follow another.
@inline(__always)
func nudgeBlockedOwners() {
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
