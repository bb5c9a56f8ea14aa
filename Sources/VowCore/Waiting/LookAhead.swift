// Whether a wait can end: what waits for what is followed upstream, until something is found that the
// waiting thread itself blocks, or could run.

import CVow

/// One step of the way.
private enum Step {
    case stop(Finding)
    /// A visit.
    case go(RecordPointer)
}

/// How many steps are taken between two looks at the clock.
private let stepsBetweenLooks = 1024

func lookAhead(
    for waiting: WaitingPointer, until deadline: Deadline, _ thread: ThreadPointer
) -> Obstacle {
    if !waiting.pointee.isWatched && !isForkedChild { return .blocked }
    return withUnsafeTemporaryAllocation(of: LookedAt.self, capacity: LookedThrough.few) { memory in
        guard let memory = memory.baseAddress else { fatal("no stack for a look ahead") }
        return whileLooking(waiting) { way in
            var seen = LookedThrough(lent: memory)
            let found = look(
                from: waiting.pointee.promise, at: waiting.pointee.place, until: deadline, &seen,
                thread)
            way = seen.way
            seen.end(thread)
            return found.obstacle ?? .blocked
        }
    }
}

private func look(
    from promise: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Finding {
    promise.visit()
    var current = promise
    var watch = RingWatch(from: current)
    var steps = 0
    var circles = Finding.nothing
    while true {
        seen.way |= bit(of: current)
        let found = step(from: current, at: place, until: deadline, &circles, &seen, thread)
        guard case .go(let next) = found else {
            watch.end(thread)
            current.endVisit(thread)
            guard case .stop(let finding) = found else { return .blocked }
            return finding.needed(besides: circles)
        }
        current.endVisit(thread)
        current = next
        steps += 1
        let isTooLate = steps % stepsBetweenLooks == 0 && deadline.hasPassed
        // A ring is being rejected at this moment, by who closed it, or a wait of it refused.
        if isTooLate || watch.hasSeen(current, thread) {
            seen.way = allPromises
            watch.end(thread)
            current.endVisit(thread)
            return .blocked
        }
    }
}

extension Finding {
    /// Of what waits for this, and for what was found to go in circles.
    fileprivate func needed(besides circles: UInt32) -> Finding {
        if circles == Finding.nothing { return self }
        switch obstacle {
        case .blocked, nil: return Finding(obstacle: nil, leansOn: min(leansOn, circles))
        case .deadlock, .forked, .runnable: return self
        }
    }
}

/// - Parameter circles: what the executors on the way, so far, lean on.
private func step(
    from current: RecordPointer, at place: borrowing WaitingPlace, until deadline: Deadline,
    _ circles: inout UInt32, _ seen: inout LookedThrough, _ thread: ThreadPointer
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
    let isToRun =
        (word.phase == .open || word.phase == .cancelled) && current.pointee.shape.isReaction
    var executor = isToRun ? current.executor : nil
    // The promise that a follower waits for may end; the executor destroys the follower's context, before it settles.
    if word.phase == .following { executor = current.executorOfContext }
    if isToRun || executor != nil {
        let isReady = isToRun && upstream?.pointee.state.read().hasValue ?? true
        let found =
            executor.map { look(atExecutor: $0, at: place, until: deadline, &seen, thread) }
            ?? .blocked
        let mayRun: Bool
        switch found.obstacle {
        case .blocked: mayRun = true
        case nil:
            mayRun = false
            circles = min(circles, found.leansOn)
        case .deadlock, .forked, .runnable:
            upstream?.endVisit(thread)
            return .stop(found)
        }
        if isReady {
            upstream?.endVisit(thread)
            if !mayRun { return .stop(found) }
            // An inline one is open while its handler is running.
            if let awaited = promiseAwaited(inHandlerOf: current) { return .go(awaited) }
            // Not where the wait may be over before the handler.
            if seen.endsByItself { return .stop(.blocked) }
            return .stop(Finding(obstacle: whenReady(current, at: place, until: deadline)))
        }
    }
    if let upstream { return .go(upstream) }
    return .stop(.blocked)
}

/// Whether an executor is held up, by this wait or by another one. It may be gone.
private func look(
    atExecutor executor: ExecutorPointer, at place: borrowing WaitingPlace,
    until deadline: Deadline,
    _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Finding {
    if place.blocks(executor) { return .deadlock }
    guard let awaited = promiseAwaited(blocking: executor) else { return .blocked }
    defer { awaited.endVisit(thread) }
    if !seen.mayGoDeeper {
        seen.way = allPromises
        return .blocked
    }
    if let known = seen.enter(awaited, asAwaited: true) { return known }
    let found = look(from: awaited, at: place, until: deadline, &seen, thread)
    return seen.leave(awaited, asAwaited: true, found)
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
) -> Finding {
    if isForkedChild && combined.producer.pointee.isLeftWithParent { return .forked }
    guard let owner = combined.observing else { return .blocked }
    // Of a scope fewer members are looked at than there may be; but a handler that waits for the end of its own knows.
    if combined.producer.pointee.kind == .scope && isMemberRunning(of: owner, thread) {
        return .deadlock
    }
    if !seen.mayGoDeeper {
        seen.way = allPromises
        return .blocked
    }
    if let known = seen.enter(combined) { return known }
    let outer = seen.endsByItself
    seen.endsByItself = outer || owner.pointee.view.endsByItself
    let found = lookAtObserved(by: owner, at: place, until: deadline, &seen, thread)
    seen.endsByItself = outer
    return seen.leave(combined, found)
}

private func lookAtObserved(
    by owner: UnsafeMutablePointer<ObserverOwner>, at place: borrowing WaitingPlace,
    until deadline: Deadline, _ seen: inout LookedThrough, _ thread: ThreadPointer
) -> Finding {
    let view = owner.pointee.view
    // What it waits for may change without that anybody begins to follow; or this does not look at all of them.
    if !view.isConstant || !view.needsEach { seen.way = allPromises }
    // Before the members: one that is heard of meanwhile makes this thread look again.
    var heard = view.isConstant && view.needsEach ? 0 : view.heard(owner)
    var settled = 0
    // Of those so far: none, or circles, or a wait for this thread, which, where one is enough, circles do not end.
    var found: Finding?
    var index = 0
    while true {
        let finding: Finding
        switch view.observed(owner, index) {
        case .noMore:
            if view.needsEach && !view.isConstant {
                let now = view.heard(owner)
                if now == heard { return found ?? .blocked }
                // One was perhaps not looked at.
                heard = now
                index = 0
                continue
            }
            // The outcome of another one is on its way, and may decide.
            return settled > heard && !view.needsEach ? .blocked : found ?? .blocked
        case .nothing:
            settled += 1
            index += 1
            continue
        case .leftInStep: finding = .forked
        case .executor(let executor):
            finding = look(atExecutor: executor, at: place, until: deadline, &seen, thread)
        case .promise(let promise):
            finding = look(from: promise, at: place, until: deadline, &seen, thread)
            promise.endVisit(thread)
        }
        index += 1
        switch finding.obstacle {
        case .runnable: return finding
        case .blocked: if !view.needsEach { return .blocked }
        case .deadlock, .forked:
            if view.needsEach { return finding }
            found = finding.leaning(on: found)
        case nil:
            found = Finding(obstacle: found?.obstacle, leansOn: finding.leansOn).leaning(on: found)
        }
        if index % stepsBetweenLooks == 0 && deadline.hasPassed {
            seen.way = allPromises
            return .blocked
        }
    }
}

extension Finding {
    fileprivate func leaning(on other: Finding?) -> Finding {
        Finding(obstacle: obstacle, leansOn: min(leansOn, other?.leansOn ?? Finding.nothing))
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
