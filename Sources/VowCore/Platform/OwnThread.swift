// Threads of our own: the pool's.

import CVowPlatform

typealias ThreadMain =
    @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

/// Runs `main` on a new thread that ends with it. False when the system gives none.
func startThread(_ main: @escaping ThreadMain, _ context: UnsafeMutableRawPointer? = nil) -> Bool {
    vow_platform_start_thread(main, context) != 0
}

/// The processor's time that one thread has had.
struct ThreadClock {
    private let clock: clockid_t

    /// The calling thread's, which may be read for as long as that is there.
    static var own: ThreadClock { ThreadClock(clock: vow_platform_own_clock()) }

    var nanoseconds: Int64 { vow_platform_time_of(clock) }
}
