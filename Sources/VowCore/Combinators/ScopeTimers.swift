// The two timers of a scope: its deadline, which cancels it, and the patience that it has with members then. A timer that is
// set keeps the scope's memory as a producer does, and is stopped by whoever ends the scope.

import CVow

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
