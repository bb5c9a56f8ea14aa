// How to wait for another thread that is about to finish a few instructions.

import CVowPlatform

/// Spins at first, then gives the processor away: the other thread may not be running.
struct Backoff {
    private var rounds = 0

    init() {}

    @inline(never)
    mutating func wait() {
        #if VOW_SCHEDULES
            vow_schedule_point(VOW_STEP_PAUSE, nil)
        #else
            rounds &+= 1
            if rounds < 64 { vow_platform_relax() } else { _ = sched_yield() }
        #endif
    }
}
