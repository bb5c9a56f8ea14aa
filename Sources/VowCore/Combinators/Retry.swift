// vow_retry: one lane makes the attempts. Between two attempts one piece of work on the executor asks whether to go on, and
// waits. A second lane waits for the deadline. The policy has the number of attempts and the delays between them.

import CVow

private struct RetryFields: ~Copyable {
    let fn: Handler
    /// Used by the lane of the attempts and its work.
    var policy: RetryPolicy
    var isPausing = false
    /// Whether the user's function was called; if not, its executor has refused the work.
    var hasRun = false
    var isRefused = false
    /// Guards `attempt` and `lastError`.
    let lock = SpinLock()
    /// The number of calls of the user's function.
    var attempt: Int64 = 0
    /// Owned.
    var lastError = vow_none()

    init(fn: @escaping Handler, policy: RetryPolicy) {
        self.fn = fn
        self.policy = policy
    }
}

private typealias RetryPointer = UnsafeMutablePointer<RetryFields>

private let deadlineLane = 1

func retry(
    _ policy: RetryPolicy, _ fn: @escaping Handler, for caller: Caller, _ thread: ThreadPointer
) -> RecordPointer {
    var policy = policy
    // The scope's limit becomes the retry's own deadline, so that the error is the retry's; a deadline of 0 would be none.
    if let left = timeLeft(thread), policy.deadline == 0 || left < policy.deadline {
        policy.deadline = max(left, 1)
    }
    let plan = MachinePlan(
        kind: .retrying,
        program: Program(next: nextOfRetry, decides: isAttempt, clear: clearRetry),
        lanes: policy.deadline == 0 ? 1 : 2, caller: caller)
    guard let machine = makeMachine(plan, RetryFields(fn: fn, policy: policy), thread) else {
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    if policy.deadline != 0 { machine.lane(deadlineLane).index = deadlineLane }
    return startMachine(machine, cancelledBy: caller.token, thread)
}

private func nextOfRetry(
    _ lane: Lane, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    let retry = lane.machine.fields(RetryFields.self)
    if lane.index == deadlineLane { return nextOfDeadline(lane, retry, settled, thread) }
    guard let outcome = settled?.value else { return nextAttempt(lane, retry, thread) }
    if retry.pointee.isPausing {
        retry.pointee.isPausing = false
        if outcome.isError || retry.pointee.isRefused {
            let error = outcome.isError ? outcome : retry.pointee.lastError
            finish(lane, givenUp(error, retry), thread)
            return nil
        }
        return nextAttempt(lane, retry, thread)
    }
    if !outcome.isError {
        finish(lane, outcome.retained(), thread)
        return nil
    }
    if retry.pointee.policy.isLast(retry.pointee.attempt) || !retry.pointee.hasRun {
        finish(lane, givenUp(outcome, retry), thread)
        return nil
    }
    let before = retry.pointee.lock.withLock {
        let before = retry.pointee.lastError
        retry.pointee.lastError = outcome.retained()
        return before
    }
    before.release(thread)
    if retry.pointee.policy.isWithoutDelay && retry.pointee.policy.mayRetry == nil {
        return nextAttempt(lane, retry, thread)
    }
    retry.pointee.isPausing = true
    return makeWork(for: lane, runPause, thread)
}

private func isAttempt(_ lane: Lane) -> Bool {
    lane.index != deadlineLane && !lane.machine.fields(RetryFields.self).pointee.isPausing
}

private func nextAttempt(
    _ lane: Lane, _ retry: RetryPointer, _ thread: ThreadPointer
) -> RecordPointer {
    retry.pointee.hasRun = false
    return makeWork(for: lane, runAttempt, thread)
}

private func runAttempt(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let retry = machine.fields(RetryFields.self)
    retry.pointee.hasRun = true
    // The attempt counts from here: the deadline may come while it waits for its executor.
    let attempt = retry.pointee.lock.withLock {
        retry.pointee.attempt += 1
        return retry.pointee.attempt
    }
    return retry.pointee.fn(vow_int(attempt), machine.pointee.context)
}

/// Makes the delay on the executor, as the user's own delay would be: a loop's executor uses the loop's clock.
private func runPause(_: vow_value, _ context: UnsafeMutableRawPointer?) -> vow_value {
    let machine = laneOfWork(context).machine
    let retry = machine.fields(RetryFields.self)
    let error = retry.pointee.lastError
    if let mayRetry = retry.pointee.policy.mayRetry, !mayRetry(error, machine.pointee.context) {
        retry.pointee.isRefused = true
        return vow_none()
    }
    if retry.pointee.policy.isWithoutDelay { return vow_none() }
    let delay = retry.pointee.policy.takeDelay()
    return vow_value(VOW_PROMISE, makePlainDelay(delay, currentThread()))
}

private func nextOfDeadline(
    _ lane: Lane, _ retry: RetryPointer, _ settled: RecordPointer?, _ thread: ThreadPointer
) -> RecordPointer? {
    guard let outcome = settled?.value else {
        return makePlainDelay(retry.pointee.policy.deadline, thread)
    }
    finish(lane, outcome.isError ? givenUp(outcome, retry) : timedOut(retry), thread)
    return nil
}

/// A copy of an error (borrowed) with the number of attempts.
private func givenUp(_ error: vow_value, _ retry: RetryPointer) -> vow_value {
    let attempts = retry.pointee.lock.withLock { retry.pointee.attempt }
    return makeErrorCopy(of: error, attempts: attempts) ?? error.retained()
}

private func timedOut(_ retry: RetryPointer) -> vow_value {
    let (attempts, lastError) = retry.pointee.lock.withLock {
        (retry.pointee.attempt, retry.pointee.lastError.retained())
    }
    let message: StaticString = "it took too long"
    let error = message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            makeOwnError(VOW_ETIMEDOUT, $0.baseAddress, payload: lastError)
        }
    }
    guard let error else {
        lastError.release(currentThread())
        return ownErrors.timedOut
    }
    error.box?.part(ErrorPart.self).pointee.attempts = attempts
    return error
}

private func clearRetry(_ machine: MachinePointer, _ thread: ThreadPointer) {
    machine.fields(RetryFields.self).pointee.lastError.release(thread)
}

// MARK: The policy

struct RetryPolicy {
    typealias MayRetry = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool

    /// 0: without a bound.
    private var attempts: UInt64 = 3
    /// Nanoseconds: exact up to three months, and never too large for a number.
    private var delay = 0.0
    private var factor = 2.0
    private var longest = 0.0
    private var jitter = 0.0
    /// 0: none.
    var deadline: Int64 = 0
    private(set) var mayRetry: MayRetry?

    /// Three attempts, at once.
    init() {}

    /// Returns nil if the given policy has a wrong number.
    init?(_ given: vow_retry_policy) {
        let hour: Int64 = 3_600_000_000_000
        let isGood =
            given.first_delay_ns >= 0 && given.max_delay_ns >= 0 && given.deadline_ns >= 0
            && given.factor >= 0 && given.factor.isFinite && given.jitter >= 0
            && given.jitter <= 1
        if !isGood { return nil }
        attempts = given.attempts
        factor = given.factor == 0 ? 2 : given.factor
        longest = Double(given.max_delay_ns == 0 ? hour : given.max_delay_ns)
        delay = min(Double(given.first_delay_ns), longest)
        jitter = given.jitter
        deadline = given.deadline_ns
        mayRetry = given.may_retry
    }

    func isLast(_ attempt: Int64) -> Bool {
        attempt == Int64.max || (attempts != 0 && UInt64(attempt) >= attempts)
    }

    var isWithoutDelay: Bool { delay == 0 }

    /// The delay before the next attempt, in nanoseconds.
    mutating func takeDelay() -> Int64 {
        let taken = delay - delay * jitter * (jitter == 0 ? 0 : randomFraction())
        delay = min(delay * factor, longest)
        // The first number beyond is 2 to the power of 63.
        return taken >= 0x1p63 ? Int64.max : Int64(taken)
    }
}
