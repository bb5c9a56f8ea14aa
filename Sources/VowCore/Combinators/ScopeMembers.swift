// The members of a scope: how they enter, what becomes of their outcomes, and which threads may look at them.
//
// A member stands in one of three lists from its entry until it is told, under the scope's lock. A member that holds up the end
// of its scope is reported like an unhandled rejection.

import CVow
import CVowPlatform

/// Follows an observer.
struct ScopeMember {
    /// The list of the member.
    enum Stage {
        case entered, cancelled, reported
    }

    fileprivate var next: ScopeMemberPointer?
    fileprivate var previous: ScopeMemberPointer?
    /// Borrowed from the observer, which has a reference until the member has left its list.
    fileprivate let promise: RecordPointer
    fileprivate var stage = Stage.entered

    fileprivate static let size = Observer.size + MemoryLayout<ScopeMember>.stride

    fileprivate init(_ promise: RecordPointer) { self.promise = promise }
}

enum AddResult {
    case added, cancelled, ended, noMemory
    /// The scope never takes members, and answers with this code.
    case refused(Int32)
}

/// The scope's state at an entry, under its lock.
private enum Entry {
    case open
    /// The error with which members are cancelled, owned.
    case cancelled(vow_value)
    case ended
}

/// - Parameters:
///   - promise: consumed.
///   - cancelsLate: whether a promise that comes after the end is cancelled; if not, it is released.
func add(
    _ promise: RecordPointer, to scope: ScopePointer, cancelsLate: Bool = true,
    _ thread: ThreadPointer
) -> AddResult {
    if scope.pointee.refusal != 0 {
        promise.release(thread)
        return .refused(scope.pointee.refusal)
    }
    guard let observer = makeMember(promise, of: scope) else {
        promise.release(thread)
        return .noMemory
    }
    let entry = scope.pointee.lock.withLock {
        if !scope.pointee.holds.addOneUnlessZero() { return Entry.ended }
        return list(member(of: observer), of: scope)
    }
    if case .ended = entry {
        giveMemoryBack(observer, ScopeMember.size)
        if !cancelsLate {
            promise.release(thread)
            return .ended
        }
        promise.pointee.isObserved.set()
        asOneStep(thread) {
            _ = cancel(promise, ownErrors.cancelled, thread)
            promise.release(thread)
        }
        return .ended
    }
    if waitsForEnd(promise, of: scope, thread) {
        if case .cancelled(let error) = entry { error.release(thread) }
        asOneStep(thread) {
            end(observer, ownErrors.cycle, thread)
            promise.release(thread)
        }
        return .refused(VOW_ECYCLE)
    }
    return look(at: promise, by: observer, entry, thread) ? .added : .cancelled
}

/// Whether a listed promise waits for the scope's end, which would wait for it. Asked after the promise was listed: of two
/// threads that close a ring, one sees the other's member. Only a closed scope's end can be waited for.
private func waitsForEnd(
    _ promise: RecordPointer, of scope: ScopePointer, _ thread: ThreadPointer
) -> Bool {
    if scope.pointee.closed.loadAcquire() == 0 { return false }
    if !leads(from: promise, to: scope.promise, thread) { return false }
    scope.promise.endVisit(thread)
    return true
}

/// Begins work as a member, and returns the promise (owned) of its result. Everything that it creates is under the scope.
func startMember(
    of scope: ScopePointer, _ reaction: Reaction, _ thread: ThreadPointer
) -> RecordPointer {
    let entry: Entry = scope.pointee.lock.withLock {
        if scope.pointee.isCancelled || scope.pointee.refusal != 0 {
            let isPlain = scope.pointee.holds.loadRelaxed() == 0
            return .cancelled(
                isPlain ? ownErrors.cancelled : scope.pointee.cancellation.retained())
        }
        return scope.pointee.holds.addOneUnlessZero() ? .open : .ended
    }
    switch entry {
    case .ended:
        return refuse(reaction, ownErrors.shutDown, thread)
    case .cancelled(let error):
        if scope.pointee.refusal != 0 {
            error.release(thread)
            return refuse(reaction, scope.pointee.failure.retained(), thread)
        }
        return refuse(reaction, error, thread)
    case .open:
        break
    }
    // The memory comes first: work that has begun cannot be left.
    guard let memory = takeMemory(ScopeMember.size) else {
        letGo(of: scope, thread)
        return refuse(reaction, ownErrors.noMemory, thread)
    }
    guard let work = under(scope.promise, thread, { makeWorkAside(reaction, thread) }) else {
        giveMemoryBack(memory, ScopeMember.size)
        letGo(of: scope, thread)
        return promiseWithoutMemory
    }
    // The work is observed before it begins: it may wait for the scope's end, which the look ahead must see.
    let observer = initialise(memory, work, of: scope)
    work.retain()
    let now = scope.pointee.lock.withLock { list(member(of: observer), of: scope) }
    _ = look(at: work, by: observer, now, thread)
    asOneStep(thread) { thread.pointee.agenda.handOver.append(work) }
    return work
}

/// Refuses work: its context is destroyed, and the returned promise is rejected with an error (consumed).
private func refuse(
    _ reaction: Reaction, _ error: vow_value, _ thread: ThreadPointer
) -> RecordPointer {
    if let destroy = reaction.extras.destroy {
        runForeign(thread) { destroy(reaction.context) }
    }
    return makePromise(of: error, thread)
}

// MARK: Entering

private func makeMember(_ promise: RecordPointer, of scope: ScopePointer) -> RecordPointer? {
    takeMemory(ScopeMember.size).map { initialise($0, promise, of: scope) }
}

private func initialise(
    _ memory: UnsafeMutableRawPointer, _ promise: RecordPointer, of scope: ScopePointer
) -> RecordPointer {
    let observer = initialiseObserver(at: memory, owner: scope.asOwner)
    member(of: observer).initialize(to: ScopeMember(promise))
    return observer
}

/// Lists a member. The caller holds the lock, and a hold for the member.
private func list(_ member: ScopeMemberPointer, of scope: ScopePointer) -> Entry {
    let isCancelled = scope.pointee.isCancelled
    enlist(member, isCancelled ? .cancelled : .entered, of: scope)
    return isCancelled ? .cancelled(scope.pointee.cancellation.retained()) : .open
}

/// Observes a listed member's promise (consumed), and cancels it in a cancelled scope. Returns false if it was cancelled.
private func look(
    at promise: RecordPointer, by observer: RecordPointer, _ entry: Entry, _ thread: ThreadPointer
) -> Bool {
    guard case .cancelled(let error) = entry else {
        observe(promise, by: observer, thread)
        return true
    }
    promise.visit()
    asOneStep(thread) {
        observe(promise, by: observer, thread)
        _ = cancel(promise, error, thread)
        promise.endVisit(thread)
    }
    error.release(thread)
    return false
}

// MARK: Lists, under the lock

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Scope {
    fileprivate func first(_ stage: ScopeMember.Stage) -> ScopeMemberPointer? {
        switch stage {
        case .entered: pointee.first
        case .cancelled: pointee.firstCancelled
        case .reported: pointee.firstReported
        }
    }

    fileprivate func setFirst(_ member: ScopeMemberPointer?, _ stage: ScopeMember.Stage) {
        switch stage {
        case .entered: pointee.first = member
        case .cancelled: pointee.firstCancelled = member
        case .reported: pointee.firstReported = member
        }
    }
}

private func enlist(
    _ member: ScopeMemberPointer, _ stage: ScopeMember.Stage, of scope: ScopePointer
) {
    let next = scope.first(stage)
    member.pointee.stage = stage
    member.pointee.previous = nil
    member.pointee.next = next
    next?.pointee.previous = member
    scope.setFirst(member, stage)
}

private func unlist(_ member: ScopeMemberPointer, of scope: ScopePointer) {
    scope.pointee.left = scope.pointee.left + 1
    let (next, previous) = (member.pointee.next, member.pointee.previous)
    next?.pointee.previous = previous
    if let previous {
        previous.pointee.next = next
    } else {
        scope.setFirst(next, member.pointee.stage)
    }
}

/// Moves the newest member of a list to another one, and returns its promise, as a visit. Returns nil from an empty list.
func takeMember(
    of scope: ScopePointer, from stage: ScopeMember.Stage, to other: ScopeMember.Stage
) -> RecordPointer? {
    scope.pointee.lock.withLock {
        guard let member = scope.first(stage) else { return nil }
        let next = member.pointee.next
        unlist(member, of: scope)
        // In a forked child a thread of the parent may have been about to put a member before this one.
        if scope.first(stage) == member { scope.setFirst(next, stage) }
        enlist(member, other, of: scope)
        member.pointee.promise.visit()
        return member.pointee.promise
    }
}

// MARK: Observing

func scope(of observer: RecordPointer) -> ScopePointer {
    UnsafeMutableRawPointer(observer.owner).assumingMemoryBound(to: Scope.self)
}

private func member(of observer: RecordPointer) -> ScopeMemberPointer {
    (UnsafeMutableRawPointer(observer) + Observer.size).assumingMemoryBound(to: ScopeMember.self)
}

func scopeMemberTold(_ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer) {
    // The end has another failure: this one is reported, unless the member has a reader.
    if !end(observer, promise.value, thread) && promise.nowCounts.readers == 1 {
        promise.pointee.isObserved.clear()
    }
}

/// Ends a member with a value (borrowed). Returns false if it has failed and is not the first. A scope excuses the
/// cancellations that it has asked for.
@discardableResult
@inline(never)
private func end(_ observer: RecordPointer, _ value: vow_value, _ thread: ThreadPointer) -> Bool {
    let scope = scope(of: observer)
    let (isFailure, isFirst) = scope.pointee.lock.withLock {
        let member = member(of: observer)
        unlist(member, of: scope)
        let isExcused = value.isCancellation && member.pointee.stage != .entered
        let isFailure = value.isError && !isExcused
        let isFirst = isFailure && !scope.pointee.failure.isError
        if isFirst { scope.pointee.failure = value.retained() }
        return (isFailure, isFirst)
    }
    if isFirst && scope.pointee.failsFast {
        cancelMembers(of: scope, cancellation(value), thread)
    }
    giveMemoryBack(observer, ScopeMember.size)
    letGo(of: scope, thread)
    return isFirst || !isFailure
}

/// Shows the newest ones of many members. In a forked child the lock may be held by a thread of the parent.
func observedByScope(_ owner: UnsafeMutablePointer<ObserverOwner>, _ place: Int) -> Observed {
    if place == mostLookedAt || isForkedChild { return .noMore }
    let scope = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Scope.self)
    return scope.pointee.lock.withLock {
        var left = place
        for stage in [ScopeMember.Stage.entered, .cancelled, .reported] {
            var member = scope.first(stage)
            while let current = member {
                if left == 0 {
                    current.pointee.promise.visit()
                    return .promise(current.pointee.promise)
                }
                left -= 1
                member = current.pointee.next
            }
        }
        return .noMore
    }
}

func scopeMembersThatLeft(_ owner: UnsafeMutablePointer<ObserverOwner>) -> Int {
    let scope = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Scope.self)
    return scope.pointee.lock.withLock { scope.pointee.left }
}

func scopeMemberStopped(_: RecordPointer, _: ThreadPointer) {
    fatal("a scope stops no observers")
}

// MARK: Reporting late members

/// Reports a member (borrowed) that has not settled `patience` nanoseconds after its scope was cancelled.
func reportLate(
    _ member: RecordPointer, in scope: UnsafePointer<CChar>?, after patience: Int64,
    _ thread: ThreadPointer
) {
    let (hook, context) = unhandledReporterLock.withLock {
        (unhandledReporter.hook, unhandledReporter.context)
    }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        guard let hook else {
            writeReport("late member") {
                $0.append(": ")
                describeLate(member, in: scope, after: patience, into: &$0)
            }
            return
        }
        describeLate(member, in: scope, after: patience, into: &text)
        let error =
            makeOwnError(VOW_ETIMEDOUT, buffer.baseAddress, payload: vow_none())
            ?? ownErrors.timedOut
        runForeign(thread) { hook(error, context) }
        error.release(thread)
    }
}

private func describeLate(
    _ member: RecordPointer, in scope: UnsafePointer<CChar>?, after patience: Int64,
    into text: inout TextBuffer
) {
    text.append("the promise")
    appendName(of: member, to: &text)
    text.append(" has not settled ")
    text.append(patience / 1_000_000)
    text.append(" ms after its scope")
    if let scope {
        text.append(" '")
        text.append(scope, strlen(scope))
        text.append("'")
    }
    text.append(" was cancelled")
}
