// Whose a loop is. A thread has a list of the loops that it made or ran last, newest first; the first one
// gets its reactions, delays and watches.
//
// A list changes under the lock of all lists and its thread's own; the thread reads it under its own. So
// another thread may take a loop over, and none reads memory that is gone.

private let loopsLock = SpinLock()
nonisolated(unsafe) private var firstLoop: LoopPointer?

/// A new loop.
func enterLoop(_ loop: LoopPointer, home thread: ThreadPointer) {
    loopsLock.withLock {
        loop.pointee.next.storeRelaxed(word(of: firstLoop))
        firstLoop?.pointee.previous.storeRelaxed(word(of: loop))
        firstLoop = loop
        moveHome(of: loop, to: thread)
    }
}

/// A loop that is destroyed is nobody's.
func withdrawLoop(_ loop: LoopPointer) {
    loopsLock.withLock {
        moveHome(of: loop, to: nil)
        let after = VowCore.loop(in: loop.pointee.next)
        let before = VowCore.loop(in: loop.pointee.previous)
        after?.pointee.previous.storeRelaxed(word(of: before))
        if let before {
            before.pointee.next.storeRelaxed(word(of: after))
        } else {
            firstLoop = after
        }
    }
}

/// The thread begins to run it: from now on it is the first of the thread's.
func takeHome(of loop: LoopPointer, _ thread: ThreadPointer) {
    if thread.pointee.firstHome.loadRelaxed() == word(of: loop) { return }
    loopsLock.withLock { moveHome(of: loop, to: thread) }
}

/// Under the lock of all lists.
private func moveHome(of loop: LoopPointer, to thread: ThreadPointer?) {
    if let old = ThreadPointer(bitPattern: UInt(loop.pointee.home.loadRelaxed())) {
        old.pointee.homeLock.withLock { unlink(loop, old) }
    }
    loop.pointee.home.storeRelaxed(thread.map { word(of: $0) } ?? 0)
    if let thread {
        thread.pointee.homeLock.withLock {
            loop.pointee.nextHome.storeRelaxed(thread.pointee.firstHome.loadRelaxed())
            thread.pointee.firstHome.storeRelaxed(word(of: loop))
        }
    }
}

private func unlink(_ loop: LoopPointer, _ thread: ThreadPointer) {
    let after = loop.pointee.nextHome.loadRelaxed()
    if thread.pointee.firstHome.loadRelaxed() == word(of: loop) {
        thread.pointee.firstHome.storeRelaxed(after)
        return
    }
    var current = VowCore.loop(in: thread.pointee.firstHome)
    while let before = current {
        current = VowCore.loop(in: before.pointee.nextHome)
        if current == loop { before.pointee.nextHome.storeRelaxed(after) }
    }
}

/// The loop whose thread this is, owned.
@inline(__always)
func homeLoop(_ thread: ThreadPointer) -> LoopPointer? {
    if thread.pointee.firstHome.loadRelaxed() == 0 { return nil }
    return homeLoopSlowly(thread)
}

private func homeLoopSlowly(_ thread: ThreadPointer) -> LoopPointer? {
    thread.pointee.homeLock.withLock {
        let loop = VowCore.loop(in: thread.pointee.firstHome)
        loop?.retain()
        return loop
    }
}

/// The loop that this thread works for, else its home; owned.
func loopHere(_ thread: ThreadPointer) -> LoopPointer? {
    if let executor = thread.pointee.place?.pointee.executor, executor.pointee.kind == .loop,
        !executor.loop.isClosed
    {
        executor.retain()
        return executor.loop
    }
    return homeLoop(thread)
}

/// The thread ends. Its loops are nobody's until somebody runs them.
func leaveHomes(_ thread: ThreadPointer) {
    if thread.pointee.firstHome.loadRelaxed() == 0 { return }
    loopsLock.withLock {
        while let loop = VowCore.loop(in: thread.pointee.firstHome) {
            moveHome(of: loop, to: nil)
        }
    }
}

/// Around a fork.
func lockLoops() { loopsLock.lock() }
func unlockLoops() { loopsLock.unlock() }

/// In a forked child, under all locks: loops take nothing more, and those of other threads are nobody's.
func turnLoopsIntoCopies(but survivor: ThreadPointer?) {
    var current = firstLoop
    while let loop = current {
        current = VowCore.loop(in: loop.pointee.next)
        loop.pointee.isCopy.storeRelaxed(1)
        loop.pointee.clock.pointee.isClosed = true
        loop.pointee.watches.pointee.isClosed = true
        if loop.pointee.home.loadRelaxed() != survivor.map({ word(of: $0) }) ?? 0 {
            loop.pointee.home.storeRelaxed(0)
        }
    }
}
