// Durations as the core counts them: whole nanoseconds.

import CVow

extension Duration {
    /// The nearest number that the core's clock can count, rounded up.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? Int64.min : Int64.max }
        let rest = (attoseconds + (attoseconds > 0 ? 999_999_999 : 0)) / 1_000_000_000
        let (sum, isTooLarge) = whole.addingReportingOverflow(rest)
        return isTooLarge ? Int64.max : sum
    }
}

extension Duration? {
    /// As a time-out. Nil: none. A negative duration must not become VOW_FOREVER.
    var coreTimeout: Int64 {
        guard let time = self?.wholeNanoseconds else { return Int64(VOW_FOREVER) }
        return time < 0 ? Int64.min : time
    }
}
