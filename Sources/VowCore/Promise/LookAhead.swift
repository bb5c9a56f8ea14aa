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

/// How deep combined promises are looked through that wait for combined promises.
private let deepestLook = 16

func lookAhead(
    from promise: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    depth: Int = 0, _ thread: ThreadPointer
) -> Obstacle {
    if !place.isInsideWork && !place.blocksItself && !isForkedChild { return .blocked }
    promise.retain()
    var current = promise
    var watch = RingWatch(from: current)
    var steps = 0
    while true {
        let found = step(from: current, at: place, until: deadline, depth: depth, thread)
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
    depth: Int, _ thread: ThreadPointer
) -> Step {
    let word = current.pointee.state.read()
    if word.hasValue { return .stop(.blocked) }
    // One that follows has been given by `subscribe` already, which may wait for it.
    if word.phase != .following && isRunning(current, thread) { return .stop(.deadlock) }
    if isForkedChild && word.phase == .running && isLeftWithParent(current) {
        return .stop(.forked)
    }
    if word.phase == .open && current.pointee.shape.isProduced {
        return .stop(lookThrough(current, at: place, until: deadline, depth: depth, thread))
    }
    let upstream = current.lockedUpstream().promise
    if word.phase == .open && current.pointee.shape.isReaction {
        let isBlockedHere = place.blocks(current.executor, thread)
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

/// A promise of the library's own making; a combined one waits for what its observers look at.
private func lookThrough(
    _ combined: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    depth: Int, _ thread: ThreadPointer
) -> Obstacle {
    if isForkedChild && combined.producer.pointee.isLeftWithParent { return .forked }
    let offset = Int(combined.producer.pointee.owner)
    if offset == 0 || depth == deepestLook || !hasStackLeft() { return .blocked }
    let owner = (UnsafeMutableRawPointer(combined) + offset)
        .assumingMemoryBound(to: ObserverOwner.self)
    let view = owner.pointee.view
    var found = Obstacle.blocked
    var index = 0
    while let observer = view.observer(owner, index) {
        index += 1
        guard let promise = observer.observed() else { continue }
        let obstacle = lookAhead(
            from: promise, at: place, until: deadline, depth: depth + 1, thread)
        promise.release(thread)
        switch obstacle {
        case .runnable: return obstacle
        case .blocked: if !view.needsEach { return .blocked }
        case .deadlock, .forked:
            found = obstacle
            if view.needsEach { return found }
        }
        if index % stepsBetweenLooks == 0 && deadline.hasPassed { return .blocked }
    }
    return found
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
        reaction.executor == ownExecutors.pool, hasStackLeft(), takeFromPool(reaction)
    else { return .blocked }
    return .runnable(reaction)
}

/// In a child such executors run nothing, so who claimed the reaction is a thread of the parent.
private func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
    if !reaction.pointee.shape.isReaction { return false }
    switch reaction.executor?.pointee.kind {
    case .pool, .serial, .dispatch, .barrier: return true
    case .loop: return reaction.executor?.loop.isCopy ?? false
    case .inline, .custom, nil: return false
    }
}
