// How often vow_retry tries, and how long it waits in between.

import CVow

struct RetryPolicy {
    typealias MayRetry = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool

    /// 0: without a bound.
    private var attempts: UInt64 = 3
    /// In nanoseconds, as an exact number up to three months, and never too large to be one.
    private var delay = 0.0
    private var factor = 2.0
    private var longest = 0.0
    private var jitter = 0.0
    /// 0: none.
    var deadline: Int64 = 0
    private(set) var mayRetry: MayRetry?

    /// Three attempts, at once.
    init() {}

    /// Nil: there is a wrong number in it.
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

    /// The next one is made at once.
    var isWithoutDelay: Bool { delay == 0 }

    /// The delay before the next attempt, in nanoseconds.
    mutating func takeDelay() -> Int64 {
        let taken = delay - delay * jitter * (jitter == 0 ? 0 : randomFraction())
        delay = min(delay * factor, longest)
        // The first number beyond is 2 to the power of 63.
        return taken >= 0x1p63 ? Int64.max : Int64(taken)
    }
}
