// How to wait for another thread that is about to finish a few instructions.

import CVowPlatform

/// Spins at first, then gives the processor away: the other thread may not be running. In the end it sleeps: a thread of
/// a lower priority than this one's gets the processor in no other way.
struct Backoff {
    static let spins = 64
    /// One word: it is set up for each step, though hardly any waits.
    private var rounds = 0

    init() {}

    /// It has waited for about a second.
    var isHopeless: Bool { rounds > 1200 }

    @inline(never)
    mutating func wait() {
        #if VOW_SCHEDULES
            vow_schedule_point(VOW_STEP_PAUSE, nil)
        #else
            rounds &+= 1
            if rounds < Backoff.spins { vow_platform_relax() } else { rest(rounds) }
        #endif
    }
}

@inline(never)
private func rest(_ rounds: Int) {
    let yields = 64
    let sleeps = rounds - Backoff.spins - yields
    if sleeps < 0 {
        _ = sched_yield()
    } else {
        // 16 microseconds, then twice as long, up to a millisecond.
        vow_platform_pause(1 << Int64(14 + min(sleeps, 6)))
    }
}
