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
    for waiting: WaitingPointer, until deadline: Deadline, _ thread: ThreadPointer
) -> Obstacle {
    if !waiting.pointee.isWatched && !isForkedChild { return .blocked }
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: LookedThrough.few) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a look ahead") }
        return whileLooking(waiting) { way in
            var seen = LookedThrough(lent: memory)
            let found = look(
                from: waiting.pointee.promise, at: waiting.pointee.place, until: deadline, &seen,
                thread)
            way = seen.way
            seen.end(thread)
            return found
        }
    }
}

private func look(
    from promise: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Obstacle {
    promise.retain()
    var current = promise
    var watch = RingWatch(from: current)
    var steps = 0
    while true {
        seen.way |= bit(of: current)
        let found = step(from: current, at: place, until: deadline, &seen, thread)
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
            seen.way = allPromises
            watch.end(thread)
            current.release(thread)
            return .blocked
        }
    }
}

private func step(
    from current: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Step {
    let word = current.pointee.state.read()
    if word.hasValue { return .stop(.blocked) }
    // One that follows has been given by `subscribe` already, which may wait for it.
    if word.phase != .following && isRunning(current, thread) { return .stop(.deadlock) }
    if isForkedChild && word.phase == .running && isLeftWithParent(current) {
        return .stop(.forked)
    }
    if current.isLeftInStep { return .stop(.forked) }
    if word.phase == .open || word.phase == .cancelled, current.pointee.shape.isProduced {
        return .stop(lookThrough(current, at: place, until: deadline, &seen, thread))
    }
    // Its handler is running elsewhere, and may wait itself.
    if word.phase == .running || word.phase == .cancelled,
        let awaited = promiseAwaited(inHandlerOf: current)
    {
        return .go(awaited)
    }
    let upstream = current.lockedUpstream().promise
    if word.phase == .open || word.phase == .cancelled, current.pointee.shape.isReaction {
        let isReady = upstream?.pointee.state.read().hasValue ?? true
        let found = lookAtExecutor(of: current, at: place, until: deadline, &seen, thread)
        if case .blocked = found {
        } else {
            upstream?.release(thread)
            return .stop(found)
        }
        if isReady {
            upstream?.release(thread)
            // An inline one is open while its handler is running.
            if let awaited = promiseAwaited(inHandlerOf: current) { return .go(awaited) }
            // Not where the wait may be over before the handler.
            if seen.endsByItself { return .stop(.blocked) }
            return .stop(whenReady(current, at: place, until: deadline))
        }
    }
    if let upstream { return .go(upstream) }
    return .stop(.blocked)
}

/// Whether the executor of a reaction is held up, by this wait or by another one.
private func lookAtExecutor(
    of reaction: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Obstacle {
    guard let executor = reaction.executor else { return .blocked }
    if place.blocks(executor) { return .deadlock }
    guard let awaited = promiseAwaited(blocking: executor) else { return .blocked }
    defer { awaited.release(thread) }
    if seen.depth == deepestLook || !hasStackLeft() {
        seen.way = allPromises
        return .blocked
    }
    if let known = seen.recall(awaited, asAwaited: true) { return known }
    seen.depth += 1
    let found = look(from: awaited, at: place, until: deadline, &seen, thread)
    seen.depth -= 1
    seen.note(found, at: awaited, asAwaited: true)
    return found
}

/// Whether the handler of something that the owner looks at is on this thread's stack.
private func isMemberRunning(
    of owner: UnsafeMutablePointer<ObserverOwner>, _ thread: ThreadPointer
) -> Bool {
    var frame = thread.pointee.frame
    while let current = frame {
        if current.pointee.reaction.isLookedAt(by: owner) { return true }
        frame = current.pointee.outer
    }
    return false
}

/// A promise of the library's own making; a combined one waits for what its observers look at.
private func lookThrough(
    _ combined: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Obstacle {
    if isForkedChild && combined.producer.pointee.isLeftWithParent { return .forked }
    guard let owner = combined.observing else { return .blocked }
    // Of a scope fewer members are looked at than there may be; but a handler that waits for the end of its own knows.
    if combined.producer.pointee.kind == .scope && isMemberRunning(of: owner, thread) {
        return .deadlock
    }
    if seen.depth == deepestLook || !hasStackLeft() {
        seen.way = allPromises
        return .blocked
    }
    if let known = seen.recall(combined) { return known }
    let outer = seen.endsByItself
    seen.endsByItself = outer || owner.pointee.view.endsByItself
    seen.depth += 1
    let found = lookAtObserved(by: owner, at: place, until: deadline, &seen, thread)
    seen.depth -= 1
    seen.endsByItself = outer
    seen.note(found, at: combined)
    return found
}

private func lookAtObserved(
    by owner: UnsafeMutablePointer<ObserverOwner>, at place: borrowing WaitingPlace,
    until deadline: Deadline, _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Obstacle {
    let view = owner.pointee.view
    // What it waits for may change without that anybody begins to follow; or this does not look at all of them.
    if !view.isConstant || !view.needsEach { seen.way = allPromises }
    // Before the members: one that is heard of meanwhile makes this thread look again.
    let heard = view.needsEach ? 0 : view.heard(owner)
    var settled = 0
    var found = Obstacle.blocked
    var index = 0
    while true {
        let obstacle: Obstacle
        switch view.observed(owner, index) {
        case .noMore:
            // The outcome of another one is on its way, and may decide.
            return settled > heard && !view.needsEach ? .blocked : found
        case .nothing:
            settled += 1
            index += 1
            continue
        case .leftInStep: obstacle = .forked
        case .promise(let promise):
            obstacle = look(from: promise, at: place, until: deadline, &seen, thread)
            promise.release(thread)
        }
        index += 1
        switch obstacle {
        case .runnable: return obstacle
        case .blocked: if !view.needsEach { return .blocked }
        case .deadlock, .forked:
            found = obstacle
            if view.needsEach { return found }
        }
        if index % stepsBetweenLooks == 0 && deadline.hasPassed {
            seen.way = allPromises
            return .blocked
        }
    }
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
func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
    reaction.pointee.shape.isReaction && (reaction.executor?.isLeftWithParent ?? false)
}

extension ExecutorPointer {
    /// In a forked child: it runs nothing.
    var isLeftWithParent: Bool {
        switch pointee.kind {
        case .pool, .serial, .dispatch, .barrier: return true
        case .loop: return loop.isCopy
        case .inline, .custom: return false
        }
    }
}
