// Cancelling a scope: its members, one at a time, because what one brings about is over before the next. None are left, and
// the outcome is decided, once nobody holds the scope.

import CVow

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
