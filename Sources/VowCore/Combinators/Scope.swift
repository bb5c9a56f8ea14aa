// vow_scope: a place for work that must not be left behind. Its memory is that of the promise of its end, so that closing
// it cannot fail; each member takes one piece of memory, until it is settled.
//
//   Record | ProducerPart | ScopeTerms | Scope | runner | timers
//
// This file has what a scope is, how it begins, is cancelled and ends, and its timers; ScopeMembers.swift what comes in
// between.
//
// Cancelling a scope cancels its members, one at a time, because what one brings about is over before the next. None are left,
// and the outcome is decided, once no thread holds the scope.
//
// The two timers are the deadline, which cancels the scope, and the patience that it has with members then. A timer that is
// set keeps the scope's memory as a producer does, and is stopped by the thread that ends the scope.

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

// MARK: Cancelling

/// Only the first one who does this to a scope that has not ended does anything.
/// - Parameters:
///   - error: what the members are cancelled with; consumed.
///   - failure: becomes the scope's where none is; needs no count.
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

/// The moment at which all that is made under a new scope is to be over: its own, or that of the scope that it is made under.
func makeTerms(_ plan: ScopePlan, _ thread: ThreadPointer) -> ScopeTerms {
    var terms = ScopeTerms(deadline: Int64.max, time: 0, label: plan.label)
    let left = timeLeft(thread)
    guard let time = plan.deadline == 0 ? left : min(plan.deadline, left ?? Int64.max) else {
        return terms
    }
    withClock(thread) { clock in
        let now = withStripe(clock.pointee.stripe) { clock.pointee.now }
        // One that is beyond the end of time is none.
        terms = ScopeTerms(
            deadline: moment(time, after: now), time: clock.pointee.time, label: plan.label)
    }
    return terms
}

/// False: without memory. A scope that can have no timer refuses its members.
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

/// The members read a cancellation whose reason is that the time is up.
func deadlineCame(_ timer: TimerPointer, _ end: TimerEnd, _ thread: ThreadPointer) {
    let scope = ScopePointer(ofTimer: timer, 0)
    let error = end == .due ? ownErrors.timedOut : ownErrors.shutDown
    cancelMembers(of: scope, cancellation(error), failingWith: error, thread)
    scope.promise.releaseProducer(thread)
}

/// The scope has just been cancelled, by who holds it.
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
    // With a hold: who ends the scope has not taken the report, and does not.
    guard end == .due, scope.pointee.holds.addOneUnlessZero() else {
        scope.promise.releaseProducer(thread)
        return
    }
    guard let reporter = scope.pointee.reporter else { fatal("a scope reports twice") }
    scope.pointee.reporter = nil
    // Foreign code, but not here. It goes on with the timer's reference and the hold.
    dismiss(reporter, .called, thread)
}

/// As a hook: the program's own is called for each member that has not ended.
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

/// The scope ends.
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
