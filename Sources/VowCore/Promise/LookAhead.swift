// Whether a wait can end: what waits for what is followed upstream, until something is found that the
// waiting thread itself blocks, or could run.

import CVow

/// What stands between a waiting thread and the promise it waits for.
enum Obstacle {
    /// Other threads' work, as far as one can see.
    case blocked
    /// Work that must run where this thread blocks.
    case deadlock
    /// Ready work of the pool, taken out of its queue: this thread runs it.
    case runnable(RecordPointer)
    /// Work that was left in the parent process.
    case forked
}

/// One step of the way.
private enum Step {
    case stop(Obstacle)
    /// Owned.
    case go(RecordPointer)
}

/// How many steps are taken between two looks at the clock.
private let stepsBetweenLooks = 1024

func lookAhead(
    from promise: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ thread: ThreadPointer
) -> Obstacle {
    if !place.isInsideWork && !place.blocksItself && !isForkedChild { return .blocked }
    promise.retain()
    var current = promise
    var watch = RingWatch(from: current)
    var steps = 0
    while true {
        let found = step(from: current, at: place, until: deadline, thread)
        guard case .go(let next) = found else {
            watch.end(thread)
            current.release(thread)
            if case .stop(let obstacle) = found { return obstacle }
            return .blocked
        }
        current.release(thread)
        current = next
        steps += 1
        let isTooLate = steps % stepsBetweenLooks == 0 && deadline.hasPassed
        // A ring is being rejected at this moment, by who closed it.
        if isTooLate || watch.hasSeen(current, thread) {
            watch.end(thread)
            current.release(thread)
            return .blocked
        }
    }
}

private func step(
    from current: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ thread: ThreadPointer
) -> Step {
    let word = current.pointee.state.read()
    if word.hasValue { return .stop(.blocked) }
    // One that follows has been given by `subscribe` already, which may wait for it.
    if word.phase != .following && isRunning(current, thread) { return .stop(.deadlock) }
    if isForkedChild && word.phase == .running && isLeftWithParent(current) {
        return .stop(.forked)
    }
    let upstream = current.lockedUpstream().promise
    if word.phase == .open && current.pointee.shape.isReaction {
        let isBlockedHere = place.blocks(current.link.pointee.executor, thread)
        let isReady = upstream?.pointee.state.read().hasValue ?? true
        if isBlockedHere || isReady {
            upstream?.release(thread)
            if isBlockedHere { return .stop(.deadlock) }
            return .stop(whenReady(current, at: place, until: deadline))
        }
    }
    if let upstream { return .go(upstream) }
    return .stop(.blocked)
}

/// A reaction that its executor has, and has perhaps not begun.
private func whenReady(
    _ reaction: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline
) -> Obstacle {
    // A child has no other thread that could free the executor meanwhile.
    if isForkedChild { return isLeftWithParent(reaction) ? .forked : .blocked }
    // On a worker of the pool only, and only where the wait has all the time that the handler may take. The
    // field does not change, and this executor is never freed.
    guard place.isInPool, deadline.nanoseconds == nil,
        reaction.link.pointee.executor == ownExecutors.pool, hasStackLeft(), takeFromPool(reaction)
    else { return .blocked }
    return .runnable(reaction)
}

/// In a child such executors run nothing, so who claimed the reaction is a thread of the parent.
private func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
    if !reaction.pointee.shape.isReaction { return false }
    switch reaction.link.pointee.executor?.pointee.kind {
    case .pool, .serial, .dispatch, .barrier: return true
    case .loop: return reaction.link.pointee.executor?.loop.isCopy ?? false
    case .inline, .custom, nil: return false
    }
}
