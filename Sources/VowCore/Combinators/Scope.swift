// vow_scope: a place for work that must not be left behind. Its memory is that of the promise of its end, so that closing
// it cannot fail; each member takes one piece of memory, until it is settled.
//
//   Record | ProducerPart | ScopeTerms | Scope | runner | timers
//
// This file has what a scope is, how it begins and how it ends; `ScopeMembers` what comes in between, `ScopeCancel` how it
// is cancelled, `ScopeTimers` its deadline and its patience.

import CVow

typealias ScopePointer = UnsafeMutablePointer<Scope>
typealias ScopeMemberPointer = UnsafeMutablePointer<ScopeMember>

struct Scope: ~Copyable {
    /// Comes first: observers know the scope by it.
    let owner: ObserverOwner
    let lock = SpinLock()
    /// What the end waits for: that somebody closes it, the members, and a cancellation under way. Whoever takes the step
    /// to 0 ends the scope, and nobody takes it up from there: who comes later is refused.
    let holds = AtomicWord(1)
    /// Under the lock, like the following ones, and the neighbours of members. Those that nobody has cancelled.
    var first: ScopeMemberPointer?
    /// How many members have left a list: those behind them have moved up.
    var left = 0
    var isCancelled = false
    /// Why the end is rejected: the first error of a member that is no cancellation; owned.
    var failure = vow_none()
    /// The other members: those that were cancelled, and those that were reported then, because they had not ended.
    var firstCancelled: ScopeMemberPointer?
    var firstReported: ScopeMemberPointer?
    /// What members are cancelled with; owned.
    var cancellation = ownErrors.cancelled
    /// Handles, each of which keeps the memory as a producer does.
    let handles = AtomicWord(1)
    /// Somebody has the promise of the end, or nobody ever will. Exchanged once.
    let closed = AtomicWord(0)
    let failsFast: Bool
    /// It was made with wrong options, or can have no timer: this is what it answers, and `failure` says why.
    let refusal: Int32
    /// Nanoseconds; 0: any.
    let patience: Int64
    /// Of a scope with patience. The loop (owned until the end) whose clock it goes by; nil: the process's.
    var loop: LoopPointer?
    /// The report of late members: foreign code, called when there are any; owned until then.
    var reporter: HookPointer?
    #if VOW_CHECKED
        var seal = Seal.live(.scope)
    #endif

    fileprivate init(_ plan: ScopePlan) {
        failsFast = plan.failsFast
        patience = plan.patience
        refusal = plan.refusal
        owner = ObserverOwner(
            told: scopeMemberTold, stopped: scopeMemberStopped, calledBack: cancelNext,
            view: ObserverView(
                distance: UInt16(scopeStart), heard: scopeMembersThatLeft, observed: observedByScope
            ))
    }
}

/// What a scope is made with.
struct ScopePlan {
    var failsFast = false
    /// From now on, in nanoseconds; 0: none.
    var deadline: Int64 = 0
    var patience: Int64 = 0
    var label: UnsafePointer<CChar>?
    /// Not 0: the scope takes no members, and this is the code of `failure` (consumed), which rejects its end.
    var refusal: Int32 = 0
    var failure = vow_none()
}

private let scopeStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + MemoryLayout<ScopeTerms>.stride
        + 15) & ~15
/// Looks at nothing: for `callBack`.
private let runnerStart = scopeStart + (MemoryLayout<Scope>.size + 15) & ~15
private let timersStart = runnerStart + Observer.size
private let wholeSize = timersStart + 2 * MemoryLayout<TimerNode>.stride

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Scope {
    var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - scopeStart).assumingMemoryBound(to: Record.self)
    }

    /// Of its end.
    init(of promise: RecordPointer) {
        self = (UnsafeMutableRawPointer(promise) + scopeStart).assumingMemoryBound(to: Scope.self)
    }

    var runner: RecordPointer {
        (UnsafeMutableRawPointer(self) + (runnerStart - scopeStart))
            .assumingMemoryBound(to: Record.self)
    }

    var terms: UnsafeMutablePointer<ScopeTerms> { promise.part(ScopeTerms.self) }

    var deadline: TimerPointer { timers }
    var grace: TimerPointer { timers + 1 }

    private var timers: TimerPointer {
        (UnsafeMutableRawPointer(self) + (timersStart - scopeStart))
            .assumingMemoryBound(to: TimerNode.self)
    }

    /// Of a timer of its own.
    init(ofTimer timer: TimerPointer, _ index: Int) {
        self = (UnsafeMutableRawPointer(timer - index) - (timersStart - scopeStart))
            .assumingMemoryBound(to: Scope.self)
    }

    var asOwner: UnsafeMutablePointer<ObserverOwner> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ObserverOwner.self)
    }
}

/// Nil without memory, also for its timer.
func makeScope(_ plan: ScopePlan, _ thread: ThreadPointer) -> ScopePointer? {
    var reporter: HookPointer?
    if plan.patience != 0 {
        reporter = makeHook(reportLateMembers, nil, nil)
        if reporter == nil { return nil }
    }
    let producer = ProducerPart(.scope, size: wholeSize, owner: scopeStart, stop: stopScope)
    guard let promise = makeProduced(producer, isQuiet: true, thread) else {
        if let reporter { giveMemoryBack(reporter, MemoryLayout<Hook>.stride) }
        return nil
    }
    // The handle's.
    promise.retainProducer()
    let scope = ScopePointer(of: promise)
    promise.part(ScopeTerms.self).initialize(to: makeTerms(plan, thread))
    scope.initialize(to: Scope(plan))
    scope.pointee.failure = plan.failure
    _ = initialiseObserver(at: scope.runner, owner: scope.asOwner)
    scope.deadline.initialize(to: TimerNode(deadlineCame))
    scope.grace.initialize(to: TimerNode(graceIsOver))
    if let reporter {
        reporter.pointee.context = UnsafeMutableRawPointer(scope)
        scope.pointee.reporter = reporter
        scope.pointee.loop = loopHere(thread)
    }
    if isWatched, let label = plan.label { noteLabel(promise, label) }
    if startDeadline(of: scope, thread) { return scope }
    releaseScope(scope, thread)
    return nil
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Scope {
    /// Relaxed: the caller has a handle already.
    func retainHandle() {
        _ = pointee.handles.addRelaxed(1)
        promise.retainProducer()
    }
}

/// Gives a handle up, for the promise of the end, which is the caller's. The first one who does closes the scope; that
/// takes the reader's reference that the promise was made with.
func closeScope(_ scope: ScopePointer, _ thread: ThreadPointer) -> RecordPointer {
    let promise = scope.promise
    if scope.pointee.closed.exchangeAcquireRelease(1) == 0 {
        letGo(of: scope, thread)
    } else {
        promise.retain()
        promise.noteHandle()
    }
    _ = giveHandleBack(scope, thread)
    return promise
}

/// Gives a handle up. With the last one of a scope that nobody has closed, its members are cancelled, and a failure among
/// them is told to nobody but who hears of unhandled rejections.
func releaseScope(_ scope: ScopePointer, _ thread: ThreadPointer) {
    let promise = scope.promise
    // Keeps the scope for this thread.
    promise.retainProducer()
    if giveHandleBack(scope, thread) && scope.pointee.closed.exchangeAcquireRelease(1) == 0 {
        cancelMembers(of: scope, ownErrors.cancelled, thread)
        letGo(of: scope, thread)
        promise.release(thread)
    }
    promise.releaseProducer(thread)
}

/// Acquires and releases: who gives the last one back sees whether somebody has closed the scope.
private func giveHandleBack(_ scope: ScopePointer, _ thread: ThreadPointer) -> Bool {
    let promise = scope.promise
    let isLast = scope.pointee.handles.subtractAcquireRelease(1) == 1
    #if VOW_CHECKED
        if isLast { scope.pointee.seal = Seal.freed }
    #endif
    promise.releaseProducer(thread)
    return isLast
}

/// One hold less. The last one ends the scope: from here on nobody adds to it, cancels it or starts a timer of it.
func letGo(of scope: ScopePointer, _ thread: ThreadPointer) {
    if scope.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    asOneStep(thread) {
        stopTimers(of: scope, thread)
        let outcome = scope.pointee.failure
        scope.pointee.failure = vow_none()
        let cancellation = scope.pointee.cancellation
        scope.pointee.cancellation = ownErrors.cancelled
        settleQuiet(scope.promise, outcome, thread)
        cancellation.release(thread)
    }
}

/// The promise of the end was cancelled, or nobody waits for it any more; then the members go on. It may have settled
/// by itself at this moment: then nobody holds the scope.
private func stopScope(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if !promise.isCancelled { return }
    cancelMembers(of: ScopePointer(of: promise), ownErrors.cancelled, thread)
}
