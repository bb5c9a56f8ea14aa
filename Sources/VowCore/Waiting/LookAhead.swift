// Whether a wait can end (G11).
//
// A thread that is about to block inside a handler, or in other work of an executor, looks ahead: from the awaited promise
// upstream, until it finds what the wait depends on. Thread/WaitingThreads.swift says when it has to look again. It finds
//
// - `deadlock`, and the wait is refused: a reaction for a serial or barrier executor that this thread blocks, or whose
//   handler is on this thread's stack.
// - `runnable`: in work of the pool, in a wait without a time-out, a reaction that is ready in the pool's queue. This
//   thread takes it out and runs it, and nothing else: so no wait buries the awaited work under an unrelated handler.
// - `forked`: work that a fork has left in the parent.
// - `blocked`, and the thread parks: work of others.
//
// Behind a handler that waits on another thread, without a time-out, the look goes on from the promise of the innermost
// wait inside it.
//
// The way divides at a combined promise, and at a reaction whose executor such a wait holds up. Both have an entry in
// `Seen`, with an answer from the answers of the entries behind it: a promise that needs each member has the worst of them,
// a promise that one member settles the best. The latter is blocked while the outcome of a member is on its way to it (it
// has heard of fewer than have settled). A promise with a timer waits for its member. If a member of a scope leaves
// meanwhile, the look through the scope begins again. Without memory for an entry the answer is `blocked`. An entry is
// looked at, then the entries that this look has added, then that entry again: an entry in no circle has its answer after
// two looks.
//
// The entries that are left wait for each other in circles. The look repeats them in rounds, until a round has no new
// answer. A circle ends only by something besides it: so, in further rounds, a promise that one member settles cannot end
// if each of its members waits for this thread or leads into a circle. An entry without an answer even so is in a circle of
// other threads' waits, of which one is refused, or of followers, of which one is rejected, and this thread may block.
// (Until then, a wait for a promise that one member settles may be refused too, if one member leads into such a circle and
// each other member waits for this thread.)

import CVow

/// The steps between two looks at the clock.
private let stepsBetweenLooks = 1024
/// The reactions of the pool's queue that a wait looks at.
private let mostOfQueue = 4096

func lookAhead(
    for waiting: WaitingPointer, until deadline: Deadline, _ thread: ThreadPointer
) -> Obstacle {
    if !waiting.pointee.isWatched && !isForkedChild { return .blocked }
    return whileLooking(waiting) { way in
        withSeen { (seen: consuming Seen) in
            var look = LookAhead(waiting, until: deadline, seen, thread)
            let found = look.find()
            way = look.way
            look.end()
            return found
        }
    }
}

private struct LookAhead: ~Copyable {
    let waiting: WaitingPointer
    let deadline: Deadline
    let thread: ThreadPointer
    private var seen: Seen
    /// All promises that the look has come past: see `WaitingThread.way`.
    private(set) var way: UInt64 = 0
    private var steps = 0
    private var isTooLate = false
    /// A timer settles the entry that is looked at.
    private var isTimed = false
    private var circlesMayEnd = true

    init(
        _ waiting: WaitingPointer, until deadline: Deadline, _ seen: consuming Seen,
        _ thread: ThreadPointer
    ) {
        self.waiting = waiting
        self.deadline = deadline
        self.thread = thread
        self.seen = seen
    }

    consuming func end() { seen.end(thread) }

    mutating func find() -> Obstacle {
        _ = seen.place(of: waiting.pointee.promise, isAwaited: true)
        while let place = seen.unfinished {
            let countBefore = seen.count
            if seen[place].answer == nil, case .runnable(let reaction) = answer(at: place) {
                return .runnable(reaction)
            }
            if let found = seen[0].answer { return found }
            // The added entries come first, and then this entry again.
            if seen.count == countBefore { seen.finish() }
        }
        while !isTooLate {
            let countBefore = seen.count
            var isNew = false
            for place in (0..<countBefore).reversed() where seen[place].answer == nil {
                let found = answer(at: place)
                if case .runnable(let reaction) = found { return .runnable(reaction) }
                isNew = isNew || found != nil
            }
            if let found = seen[0].answer { return found }
            if isNew || seen.count > countBefore { continue }
            if !circlesMayEnd { break }
            circlesMayEnd = false
        }
        return .blocked
    }

    private mutating func answer(at place: Int) -> Obstacle? {
        let entry = seen[place]
        isTimed = entry.isTimed
        let found = entry.isAwaited ? walk(from: entry.promise) : lookThrough(entry.promise)
        seen[place].answer = found
        return found
    }

    /// The answer of a promise's entry, which is added if there is none.
    private mutating func known(of promise: RecordPointer, isAwaited: Bool = false) -> Obstacle? {
        guard let place = seen.place(of: promise, isAwaited: isAwaited, isTimed: isTimed) else {
            way = allPromises
            return .blocked
        }
        return seen[place].answer
    }

    private mutating func isOutOfTime() -> Bool {
        steps += 1
        if steps % stepsBetweenLooks == 0 && deadline.hasPassed {
            isTooLate = true
            way = allPromises
        }
        return isTooLate
    }

    // MARK: From promise to promise

    private mutating func walk(from start: RecordPointer) -> Obstacle? {
        start.visit()
        var current = start
        var watch = RingWatch(from: current)
        var found: Obstacle? = .blocked
        while let next = step(from: current, &found) {
            current.endVisit(thread)
            current = next
            // The thread that closed the ring is rejecting it now, or a wait in it is being refused.
            if isOutOfTime() || watch.hasSeen(current, thread) {
                way = allPromises
                found = .blocked
                break
            }
        }
        watch.end(thread)
        current.endVisit(thread)
        return found
    }

    /// The next promise of the way, as a visit. Nil: the way ends here.
    ///
    /// - Parameter found: the worst finding on the way so far.
    private mutating func step(from current: RecordPointer, _ found: inout Obstacle?)
        -> RecordPointer?
    {
        way |= bit(of: current)
        let word = current.pointee.state.read()
        if word.hasValue { return nil }
        let isIdle = word.phase == .open || word.phase == .cancelled
        // `subscribe` of a thenable may wait for the promise that it has given already, which follows by then.
        if word.phase != .following && isRunning(current, thread) {
            found = .deadlock
            return nil
        }
        let isLeft = isForkedChild && word.phase == .running && isLeftWithParent(current)
        if isLeft || current.isLeftInStep {
            found = .forked
            return nil
        }
        if isIdle && current.pointee.shape.isProduced {
            found = worse(found, come(to: current))
            return nil
        }
        // The handler is running on another thread, and may wait itself.
        if word.phase == .running || word.phase == .cancelled,
            let awaited = promiseAwaited(inHandlerOf: current)
        {
            return awaited
        }
        let upstream = current.lockedUpstream().promise
        // A fiber needs its executor to go on.
        let isToRun =
            isIdle && current.pointee.shape.isReaction
            || word.phase == .running && current.fiber != nil
        // A follower settles when its executor has destroyed its context.
        let executor =
            isToRun
            ? current.executor : word.phase == .following ? current.executorOfContext : nil
        let held = executor.map { come(to: $0) } ?? .blocked
        found = worse(found, held)
        let isReady = isToRun && upstream?.pointee.state.read().hasValue ?? true
        switch held {
        case .deadlock, .forked, .runnable: break
        case nil where isReady: break
        case .blocked, nil:
            if !isReady { return upstream }
            upstream?.endVisit(thread)
            // The reaction of an inline executor is open while its handler is running.
            if let awaited = promiseAwaited(inHandlerOf: current) { return awaited }
            // A timer may end the wait before the handler has ended.
            if !isTimed { found = worse(found, takeReady(current)) }
            return nil
        }
        upstream?.endVisit(thread)
        return nil
    }

    /// Takes a reaction that its executor has, and has perhaps not begun.
    private func takeReady(_ reaction: RecordPointer) -> Obstacle {
        // A child has no other thread that could free the executor meanwhile.
        if isForkedChild { return isLeftWithParent(reaction) ? .forked : .blocked }
        // Only in work of the pool, and only if the wait has all the time that the handler may take. The field does not
        // change, and this executor is never freed.
        guard waiting.pointee.place.isInPool, deadline.nanoseconds == nil,
            reaction.executor == ownExecutors.pool, hasStackLeft(),
            takeFromPool(reaction, within: mostOfQueue)
        else { return .blocked }
        return .runnable(reaction)
    }

    /// Whether an executor is held up, by this wait or by another one. The executor may be gone.
    private mutating func come(to executor: ExecutorPointer) -> Obstacle? {
        if waiting.pointee.place.blocks(executor) { return .deadlock }
        guard let awaited = promiseAwaited(blocking: executor) else { return .blocked }
        defer { awaited.endVisit(thread) }
        return known(of: awaited, isAwaited: true)
    }

    // MARK: Through a combined promise

    private mutating func come(to combined: RecordPointer) -> Obstacle? {
        if isForkedChild && combined.producer.pointee.isLeftWithParent { return .forked }
        guard let owner = combined.observing else { return .blocked }
        // A scope may have members beyond the bound; but a handler that waits for the end of its own scope is found.
        if combined.producer.pointee.kind == .scope && isMemberRunning(of: owner) {
            return .deadlock
        }
        return known(of: combined)
    }

    /// Whether the handler of a member is on this thread's stack.
    private func isMemberRunning(of owner: UnsafeMutablePointer<ObserverOwner>) -> Bool {
        var frame = thread.pointee.frame
        while let current = frame {
            if current.pointee.reaction.isLookedAt(by: owner) { return true }
            frame = current.pointee.outer
        }
        return false
    }

    private mutating func lookThrough(_ combined: RecordPointer) -> Obstacle? {
        guard let owner = combined.observing else { return .blocked }
        let view = owner.pointee.view
        isTimed = isTimed || view.endsByItself
        let isFixed = view.isConstant && view.needsEach
        // A member may change without a step of any promise, or is beyond the bound.
        if !isFixed { way = allPromises }
        // Read before the members: an outcome that comes meanwhile makes this thread look again.
        var heard = isFixed ? 0 : view.heard(owner)
        var settled = 0
        var refused: Obstacle?
        var hasUnknown = false
        var place = 0
        while true {
            let found: Obstacle?
            switch view.observed(owner, place) {
            case .noMore:
                if !view.needsEach {
                    // The outcome of a further member is on its way, and may decide.
                    if settled > heard { return .blocked }
                    if hasUnknown && (circlesMayEnd || refused == nil) { return nil }
                    return refused ?? .blocked
                }
                let now = isFixed ? 0 : view.heard(owner)
                if now == heard { return hasUnknown ? nil : .blocked }
                // A member has moved to another place, perhaps to a place that was passed already.
                heard = now
                place = 0
                continue
            case .nothing:
                settled += 1
                place += 1
                continue
            case .leftInStep: found = .forked
            case .executor(let executor): found = come(to: executor)
            case .promise(let promise):
                found = walk(from: promise)
                promise.endVisit(thread)
            }
            place += 1
            switch found {
            case .runnable: return found
            case .blocked: if !view.needsEach { return .blocked }
            case .deadlock, .forked:
                if view.needsEach { return found }
                refused = found
            case nil: hasUnknown = true
            }
            if isOutOfTime() { return .blocked }
        }
    }
}

/// The worse of two answers that are both needed; the first is `blocked` or nil, because the way goes on behind it.
private func worse(_ first: Obstacle?, _ second: Obstacle?) -> Obstacle? {
    if case .blocked = second { return first }
    return second
}
