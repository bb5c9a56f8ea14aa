// Trying again by a clock of Swift's.

extension Promise where Failure == any Error {
    /// As ``retry(_:on:_:)``; the delays and the deadline of the policy are times of this clock, whatever the executor.
    ///
    /// At the deadline the promise is rejected at once, and the attempt under way is cancelled.
    public static func retry<C: Clock, Other: Error>(
        _ policy: RetryPolicy = RetryPolicy(), clock: C, on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Promise<Success, Other>
    ) -> Promise where C.Duration == Duration {
        if policy.firstDelay < .zero || policy.maxDelay < .zero {
            return refused("retry: a delay is negative")
        }
        let delays = Guarded(Backoff(policy))
        let lastError = Guarded<(any Error)?>(nil)
        // The core gets no delay and no deadline: its clock is another.
        var prompt = policy
        (prompt.firstDelay, prompt.deadline) = (.zero, nil)
        prompt.mayRetry = { error in
            lastError.withLock { $0 = error }
            return policy.mayRetry?(error) ?? true
        }
        let trying = retrying(prompt, executor) { attempt in
            if attempt == 1 {
                return outcome(followedBy: (any Error).self) { () throws in try body(attempt) }
            }
            let delay = delays.withLock { $0.next() }
            return Promise<Void, any Error>.delay(delay, clock: clock)
                .then(on: executor) { try body(attempt) }.cValue
        }
        guard let deadline = policy.deadline else { return trying }
        // Not by timeout(), whose failure might be an attempt's own.
        return .race(
            trying,
            .tooLate(deadline, clock: clock) {
                PromiseError.timedOut(lastError: lastError.withLock { $0 })
            })
    }
}

/// The delays of a policy, one after the other.
private struct Backoff: Sendable {
    private let policy: RetryPolicy
    private var delay: Duration

    init(_ policy: RetryPolicy) {
        self.policy = policy
        delay = policy.firstDelay
    }

    mutating func next() -> Duration {
        let now = min(delay, policy.maxDelay)
        // Where the next one would be longer than the longest, it may be too long for a Duration.
        let isLongest = policy.factor > 1 && now > policy.maxDelay / policy.factor
        delay = isLongest ? policy.maxDelay : now * policy.factor
        return policy.jitter > 0 ? now * Double.random(in: (1 - min(policy.jitter, 1))...1) : now
    }
}
