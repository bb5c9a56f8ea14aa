// The clock of delays.

import CVow

/// The monotonic clock of delays, time-outs and retries.
public enum PromiseClock {
    /// The time that a delay made here and now would be counted from: since some moment in the past; on the thread of a
    /// virtual event loop, the loop's.
    public static var now: Duration { .nanoseconds(vow_now()) }
}
