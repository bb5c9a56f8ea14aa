// How often to try again, and how long to wait in between.

import CVow

/// The bounds and delays of `Promise.retry`.
public struct RetryPolicy: Sendable {
    /// At most so many, the first one included; nil: without a bound.
    public var attempts: Int?
    /// Between the first attempt and the second.
    public var firstDelay: Duration
    /// Each delay is so many times the delay before,
    public var factor: Double
    /// but no longer than this.
    public var maxDelay: Duration
    /// How much of each delay is left to chance, 0 to 1: a delay d lasts between (1 - jitter) * d and d.
    public var jitter: Double
    /// For all attempts and delays together; nil: none.
    public var deadline: Duration?
    /// Whether to try again after this error; nil: always. Called on the executor of the attempts.
    public var mayRetry: (@Sendable (any Error) -> Bool)?

    public init(
        attempts: Int? = 3, firstDelay: Duration = .zero, factor: Double = 2,
        maxDelay: Duration = .seconds(3600), jitter: Double = 0, deadline: Duration? = nil,
        mayRetry: (@Sendable (any Error) -> Bool)? = nil
    ) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.factor = factor
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.deadline = deadline
        self.mayRetry = mayRetry
    }

    /// As C has it, with 0 for the default. Nil: a number is wrong.
    var cPolicy: vow_retry_policy? {
        if let attempts, attempts < 1 { return nil }
        if maxDelay < .zero { return nil }
        var policy = vow_retry_policy()
        policy.size = MemoryLayout<vow_retry_policy>.size
        policy.attempts = UInt64(attempts ?? 0)
        policy.first_delay_ns = maxDelay == .zero ? 0 : firstDelay.wholeNanoseconds
        policy.factor = factor == 0 ? .leastNonzeroMagnitude : factor
        policy.max_delay_ns = maxDelay.wholeNanoseconds
        policy.jitter = jitter
        policy.deadline_ns = deadline.map { $0 == .zero ? 1 : $0.wholeNanoseconds } ?? 0
        return policy
    }
}
