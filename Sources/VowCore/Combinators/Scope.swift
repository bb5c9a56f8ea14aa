// vow_scope: the owner of work that must not be left behind. ScopeMembers.swift has the members; this file how a scope
// begins, is cancelled and ends, and its timers. One piece of memory, that of the promise of its end, so that closing cannot
// fail:
//
//   Record | ProducerPart | ScopeTerms | Scope | runner | timers
//
// `holds` counts the open scope, the members, and a cancellation or report under way. The step to 0 is the last and ends the
// scope: a member that enters, a cancellation and a report take a hold with `addOneUnlessZero`, and are refused after that
// step (`scope-added-to`). The memory stays longer: each handle (`handles`), each timer that is set and each reaction made
// under the scope keeps it, as a producer does.
//
//   three lists       the scope's lock
//   failure           the lock; then the thread that ends the scope
//   closed            exchanged before a handle is given back, so the thread that gives the last one back sees it. The first
//                     closer gives the hold back and takes the reader that the promise was made with; a later closer becomes
//                     a new reader, which is harmless, because no hook of the promise is a program's
//   cancellation      written under the lock before the first member is cancelled; read with a hold; the last hold takes it
//   loop, reporter    the maker; then the holder that starts or fires the grace timer. The timer fires once, and takes the
//                     report only with a hold: the thread that ends the scope finds the report untouched or gone
//
// Cancelling a scope cancels its members one at a time: the consequences of one are over before the next. The timers are the
// deadline, which cancels the scope, and the grace, the patience with members after that. The ending thread stops both.

import CVow

typealias ScopePointer = UnsafeMutablePointer<Scope>
typealias ScopeMemberPointer = UnsafeMutablePointer<ScopeMember>

struct Scope: ~Copyable {
    /// The first field, by which observers find the scope.
    let owner: ObserverOwner
    let lock = SpinLock()
    let holds = AtomicWord(1)
    /// The members that are not cancelled. Under the lock, like the following fields and the members' neighbours.
    var first: ScopeMemberPointer?
    /// The number of members that have left a list: later members have moved up.
    var left = 0
    var isCancelled = false
    /// The reason for a rejected end: the first error of a member that is no cancellation; owned.
    var failure = vow_none()
    /// The cancelled members, and the reported ones, which had not ended after the grace.
    var firstCancelled: ScopeMemberPointer?
    var firstReported: ScopeMemberPointer?
    /// The error with which members are cancelled; owned.
    var cancellation = ownErrors.cancelled
    let handles = AtomicWord(1)
    /// Not 0 once the scope is closed or its last handle is gone.
    let closed = AtomicWord(0)
    let failsFast: Bool
    /// The answer of a scope with wrong options or without a timer; `failure` says why. 0: none.
    let refusal: Int32
    /// Nanoseconds; 0: any.
    let patience: Int64
    /// The loop (owned until the end) whose clock a scope with patience goes by; nil: the process's.
    var loop: LoopPointer?
    /// The report of late members, owned until it is called. Foreign code.
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

struct ScopePlan {
    var failsFast = false
    /// Nanoseconds from now; 0: none.
    var deadline: Int64 = 0
    var patience: Int64 = 0
    var label: UnsafePointer<CChar>?
    /// Not 0: the scope takes no members, and `failure` (consumed) has this code and rejects its end.
    var refusal: Int32 = 0
    var failure = vow_none()
}

private let scopeStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + MemoryLayout<ScopeTerms>.stride
        + 15) & ~15
/// The runner observes nothing. `callBack` needs it.
private let runnerStart = scopeStart + (MemoryLayout<Scope>.size + 15) & ~15
private let timersStart = runnerStart + Observer.size
private let wholeSize = timersStart + 2 * MemoryLayout<TimerNode>.stride

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Scope {
    var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - scopeStart).assumingMemoryBound(to: Record.self)
    }

    /// The scope of the promise of its end.
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

    /// The scope of one of its timers.
    init(ofTimer timer: TimerPointer, _ index: Int) {
        self = (UnsafeMutableRawPointer(timer - index) - (timersStart - scopeStart))
            .assumingMemoryBound(to: Scope.self)
    }

    var asOwner: UnsafeMutablePointer<ObserverOwner> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ObserverOwner.self)
    }
}

/// Returns nil without memory, also for the timer.
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
    // For the handle.
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

/// Gives a handle up and returns the promise of the end, owned. The first call closes the scope.
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

/// Gives a handle up. If it is the last one of a scope that is not closed, the members are cancelled, and a member's failure is
/// reported only as an unhandled rejection.
func releaseScope(_ scope: ScopePointer, _ thread: ThreadPointer) {
    let promise = scope.promise
    // This reference keeps the scope for the call.
    promise.retainProducer()
    if giveHandleBack(scope, thread) && scope.pointee.closed.exchangeAcquireRelease(1) == 0 {
        cancelMembers(of: scope, ownErrors.cancelled, thread)
        letGo(of: scope, thread)
        promise.release(thread)
    }
    promise.releaseProducer(thread)
}

/// Acquires and releases: the thread that gives the last handle back sees whether the scope is closed.
private func giveHandleBack(_ scope: ScopePointer, _ thread: ThreadPointer) -> Bool {
    let promise = scope.promise
    let isLast = scope.pointee.handles.subtractAcquireRelease(1) == 1
    #if VOW_CHECKED
        if isLast { scope.pointee.seal = Seal.freed }
    #endif
    promise.releaseProducer(thread)
    return isLast
}

/// Gives a hold up. The last one ends the scope: no thread adds to it, cancels it or starts its timers any more.
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

/// The promise of the end was cancelled, or its last reader has gone; then the members go on. The caller has a reference to the
/// promise. If the end has settled by itself, no hold is left, and nothing happens (the scenario `scope-end-cancelled`).
private func stopScope(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if !promise.isCancelled { return }
    cancelMembers(of: ScopePointer(of: promise), ownErrors.cancelled, thread)
}

// MARK: Cancelling

/// Only the first call on a scope that has not ended has an effect.
/// - Parameters:
///   - error: the members are cancelled with it; consumed.
///   - failure: becomes the scope's failure if there is none; needs no count.
func cancelMembers(
    of scope: ScopePointer, _ error: vow_value, failingWith failure: vow_value = vow_none(),
    _ thread: ThreadPointer
) {
    if !scope.pointee.holds.addOneUnlessZero() {
        error.release(thread)
        return
    }
    let isFirst = scope.pointee.lock.withLock {
        if failure.isError && !scope.pointee.failure.isError { scope.pointee.failure = failure }
        if scope.pointee.isCancelled { return false }
        scope.pointee.isCancelled = true
        scope.pointee.cancellation = error
        return true
    }
    asOneStep(thread) {
        if isFirst {
            startGrace(of: scope, thread)
            callBack(scope.runner, thread)
        } else {
            error.release(thread)
            letGo(of: scope, thread)
        }
    }
}

func cancelNext(_ runner: RecordPointer, _ thread: ThreadPointer) {
    let scope = scope(of: runner)
    guard let promise = takeMember(of: scope, from: .entered, to: .cancelled) else {
        letGo(of: scope, thread)
        return
    }
    // The runner's hold keeps the error.
    _ = cancel(promise, scope.pointee.cancellation, thread)
    promise.endVisit(thread)
    callBack(runner, thread)
}

// MARK: The timers

/// The deadline of everything made under a new scope: its own, or the earlier one of the scope that it is made under.
func makeTerms(_ plan: ScopePlan, _ thread: ThreadPointer) -> ScopeTerms {
    var terms = ScopeTerms(deadline: Int64.max, time: 0, label: plan.label)
    let left = timeLeft(thread)
    guard let time = plan.deadline == 0 ? left : min(plan.deadline, left ?? Int64.max) else {
        return terms
    }
    withClock(thread) { clock in
        let now = withStripe(clock.pointee.stripe) { clock.pointee.now }
        // A deadline beyond the end of time is none.
        terms = ScopeTerms(
            deadline: moment(time, after: now), time: clock.pointee.time, label: plan.label)
    }
    return terms
}

/// Returns false without memory. A scope that can have no timer refuses its members.
func startDeadline(of scope: ScopePointer, _ thread: ThreadPointer) -> Bool {
    let deadline = scope.terms.pointee.deadline
    if deadline == Int64.max || scope.pointee.refusal != 0 { return true }
    scope.promise.retainProducer()
    switch startTimer(scope.deadline, at: deadline, thread) {
    case .started: return true
    case .noMemory: break
    case .refused:
        cancelMembers(of: scope, ownErrors.cancelled, failingWith: ownErrors.refusal, thread)
        scope.promise.releaseProducer(thread)
        return true
    }
    scope.promise.releaseProducer(thread)
    return false
}

/// The members are cancelled with the time-out as the reason.
func deadlineCame(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let scope = ScopePointer(ofTimer: timer, 0)
    let error = end == .due ? ownErrors.timedOut : ownErrors.shutDown
    cancelMembers(of: scope, cancellation(error), failingWith: error, thread)
    scope.promise.releaseProducer(thread)
}

/// The caller holds the scope and has just cancelled it.
func startGrace(of scope: ScopePointer, _ thread: ThreadPointer) {
    if scope.pointee.patience == 0 { return }
    scope.promise.retainProducer()
    switch startTimer(scope.grace, after: scope.pointee.patience, of: scope.pointee.loop, thread) {
    case .started: break
    case .refused, .noMemory: scope.promise.releaseProducer(thread)
    }
}

func graceIsOver(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let scope = ScopePointer(ofTimer: timer, 1)
    // With a hold, the scope has not ended, and no other thread takes the report.
    guard end == .due, scope.pointee.holds.addOneUnlessZero() else {
        scope.promise.releaseProducer(thread)
        return
    }
    guard let reporter = scope.pointee.reporter else { fatal("a scope reports twice") }
    scope.pointee.reporter = nil
    // The hook runs foreign code later. It takes over the timer's reference and the hold.
    dismiss(reporter, .called, thread)
}

/// A hook, which calls the program's hook for each member that has not ended.
func reportLateMembers(_ context: UnsafeMutableRawPointer?) {
    guard let scope = context?.assumingMemoryBound(to: Scope.self) else { return }
    let thread = currentThread()
    while let promise = takeMember(of: scope, from: .cancelled, to: .reported) {
        if !promise.pointee.state.read().hasValue {
            reportLate(
                promise, in: scope.terms.pointee.label, after: scope.pointee.patience, thread)
        }
        promise.endVisit(thread)
    }
    let promise = scope.promise
    letGo(of: scope, thread)
    promise.releaseProducer(thread)
}

@inline(never)
func stopTimers(of scope: ScopePointer, _ thread: ThreadPointer) {
    for timer in [scope.deadline, scope.grace] where stopTimer(timer) {
        scope.promise.releaseProducer(thread)
    }
    if let reporter = scope.pointee.reporter {
        scope.pointee.reporter = nil
        giveMemoryBack(reporter, MemoryLayout<Hook>.stride)
    }
    scope.pointee.loop?.release(thread)
}
