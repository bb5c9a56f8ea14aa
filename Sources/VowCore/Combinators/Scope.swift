// vow_scope: a place for work that must not be left behind. Its memory is that of the promise of
// its end, so that closing it cannot fail; each member takes one piece of memory, until it is
// settled.

import CVow

typealias ScopePointer = UnsafeMutablePointer<Scope>

struct Scope: ~Copyable {
    /// Comes first: observers know the scope by it.
    let owner: ObserverOwner
    let lock = SpinLock()
    /// The handle, the members, and a cancellation under way. The last one settles the promise; then nobody comes any
    /// more. While there are any the scope has one producer's reference.
    let holds = AtomicWord(1)
    /// Under the lock, like the following ones, and the neighbours of members.
    fileprivate var first: UnsafeMutablePointer<Member>?
    /// How many members have left the list: those behind them have moved up.
    fileprivate var left = 0
    fileprivate var isCancelled = false
    /// The first error that is no cancellation; owned.
    fileprivate var failure = vow_none()
    #if VOW_CHECKED
        var seal = Seal.live(.scope)
    #endif

    fileprivate init() {
        owner = ObserverOwner(
            told: memberTold, stopped: memberStopped, calledBack: cancelNext,
            view: ObserverView(
                distance: UInt16(scopeStart), heard: membersThatLeft, observed: observedByMember))
    }
}

/// Behind an observer.
private struct Member {
    var next: UnsafeMutablePointer<Member>?
    var previous: UnsafeMutablePointer<Member>?
    /// Borrowed from the observer, which has it until the member has left the list.
    let promise: RecordPointer
    var isListed = true

    static let size = Observer.size + MemoryLayout<Member>.stride
}

private let scopeStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + 15) & ~15
/// Looks at nothing: for `callBack`.
private let runnerStart = scopeStart + (MemoryLayout<Scope>.size + 15) & ~15

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Scope {
    fileprivate var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - scopeStart).assumingMemoryBound(to: Record.self)
    }

    fileprivate var runner: RecordPointer {
        (UnsafeMutableRawPointer(self) + (runnerStart - scopeStart))
            .assumingMemoryBound(to: Record.self)
    }

    fileprivate var asOwner: UnsafeMutablePointer<ObserverOwner> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ObserverOwner.self)
    }
}

private func scope(of observer: RecordPointer) -> ScopePointer {
    UnsafeMutableRawPointer(observer.owner).assumingMemoryBound(to: Scope.self)
}

private func member(of observer: RecordPointer) -> UnsafeMutablePointer<Member> {
    (UnsafeMutableRawPointer(observer) + Observer.size).assumingMemoryBound(to: Member.self)
}

/// Nil without memory.
func makeScope(_ thread: ThreadPointer) -> ScopePointer? {
    let size = runnerStart + Observer.size
    let producer = ProducerPart(.scope, size: size, owner: scopeStart, stop: stopScope)
    guard let promise = makeProduced(producer, isQuiet: true, thread) else { return nil }
    let memory = UnsafeMutableRawPointer(promise)
    let scope = (memory + scopeStart).bindMemory(to: Scope.self, capacity: 1)
    scope.initialize(to: Scope())
    _ = initialiseObserver(at: memory + runnerStart, owner: scope.asOwner)
    return scope
}

enum AddResult {
    case added, cancelled, noMemory
}

/// - Parameter promise: consumed.
func add(_ promise: RecordPointer, to scope: ScopePointer, _ thread: ThreadPointer) -> AddResult {
    guard let memory = takeMemory(Member.size) else {
        promise.release(thread)
        return .noMemory
    }
    let observer = initialiseObserver(at: memory, owner: scope.asOwner)
    let member = member(of: observer)
    member.initialize(to: Member(promise: promise))
    let isCancelled = scope.pointee.lock.withLock {
        if scope.pointee.isCancelled { return true }
        _ = scope.pointee.holds.addRelaxed(1)
        member.pointee.next = scope.pointee.first
        scope.pointee.first?.pointee.previous = member
        scope.pointee.first = member
        return false
    }
    if isCancelled {
        giveMemoryBack(memory, Member.size)
        promise.pointee.isObserved.set()
        asOneStep(thread) {
            _ = cancel(promise, ownErrors.cancelled, thread)
            promise.release(thread)
        }
        return .cancelled
    }
    observe(promise, by: observer, thread)
    return .added
}

/// Cancels the members (scope borrowed), one at a time: what one brings about is over before the
/// next. None are left, and the outcome is decided, once nobody holds the scope.
func cancelMembers(of scope: ScopePointer, _ thread: ThreadPointer) {
    let isFirst = scope.pointee.lock.withLock {
        let isFirst = !scope.pointee.isCancelled
        scope.pointee.isCancelled = true
        return isFirst
    }
    if !isFirst || !scope.pointee.holds.addOneUnlessZero() { return }
    asOneStep(thread) { callBack(scope.runner, thread) }
}

/// Gives the handle up; its promise is the caller's.
func closeScope(_ scope: ScopePointer, _ thread: ThreadPointer) -> RecordPointer {
    #if VOW_CHECKED
        scope.pointee.seal = Seal.freed
    #endif
    let promise = scope.promise
    letGo(of: scope, thread)
    return promise
}

private func cancelNext(_ runner: RecordPointer, _ thread: ThreadPointer) {
    let scope = scope(of: runner)
    let next = scope.pointee.lock.withLock {
        guard let member = scope.pointee.first else { return RecordPointer?.none }
        unlist(member, of: scope)
        member.pointee.promise.retain()
        return member.pointee.promise
    }
    guard let promise = next else {
        letGo(of: scope, thread)
        return
    }
    _ = cancel(promise, ownErrors.cancelled, thread)
    promise.release(thread)
    callBack(runner, thread)
}

/// Under the lock.
private func unlist(_ member: UnsafeMutablePointer<Member>, of scope: ScopePointer) {
    if !member.pointee.isListed { return }
    member.pointee.isListed = false
    scope.pointee.left = scope.pointee.left + 1
    let (next, previous) = (member.pointee.next, member.pointee.previous)
    next?.pointee.previous = previous
    if let previous { previous.pointee.next = next } else { scope.pointee.first = next }
}

private func memberTold(
    _ observer: RecordPointer, _ promise: RecordPointer, _ thread: ThreadPointer
) {
    let scope = scope(of: observer)
    scope.pointee.lock.withLock {
        unlist(member(of: observer), of: scope)
        let value = promise.value
        if value.isError && !value.isCancellation && !scope.pointee.failure.isError {
            scope.pointee.failure = value.retained()
        }
    }
    giveMemoryBack(observer, Member.size)
    letGo(of: scope, thread)
}

/// Of many members, the newest ones. In a forked child nobody may have the lock any more.
private func observedByMember(
    _ owner: UnsafeMutablePointer<ObserverOwner>, _ place: Int
) -> Observed {
    let mostLookedAt = 256
    if place == mostLookedAt || isForkedChild { return .noMore }
    let scope = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Scope.self)
    return scope.pointee.lock.withLock {
        var member = scope.pointee.first
        for _ in 0..<place { member = member?.pointee.next }
        guard let member else { return .noMore }
        member.pointee.promise.retain()
        return .promise(member.pointee.promise)
    }
}

private func membersThatLeft(_ owner: UnsafeMutablePointer<ObserverOwner>) -> Int {
    let scope = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Scope.self)
    return scope.pointee.lock.withLock { scope.pointee.left }
}

private func memberStopped(_: RecordPointer, _: ThreadPointer) {
    fatal("a scope stops no observers")
}

/// The promise of the end was cancelled, or nobody waits for it any more; then the members go on. It may have settled
/// by itself at this moment: then nobody holds the scope.
private func stopScope(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if !promise.isCancelled { return }
    let scope = (UnsafeMutableRawPointer(promise) + scopeStart).assumingMemoryBound(to: Scope.self)
    cancelMembers(of: scope, thread)
}

private func letGo(of scope: ScopePointer, _ thread: ThreadPointer) {
    if scope.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    let outcome = scope.pointee.failure
    settleQuiet(scope.promise, outcome, thread)
}
