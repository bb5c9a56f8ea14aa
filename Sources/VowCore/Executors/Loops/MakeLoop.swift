// Making and freeing loops.

import CVowPlatform

private var tablesStart: Int { (MemoryLayout<LoopRecord>.stride + 15) & ~15 }
private var clockStart: Int { tablesStart + WatchTable.size }
private var loopSize: Int { clockStart + MemoryLayout<Clock>.stride }

/// Nil: no memory, or no descriptors.
func makeLoop(isVirtual: Bool, _ thread: ThreadPointer) -> LoopPointer? {
    let set = vow_platform_make_set()
    let event = vow_platform_make_event()
    let timer = vow_platform_make_timer()
    let isComplete =
        set >= 0 && event >= 0 && timer >= 0
        && vow_platform_watch(set, event, 1) == 0 && vow_platform_watch(set, timer, 1) == 0
    if isComplete, let memory = takeMemory(loopSize) {
        if let executor = makeLoopExecutor(memory) {
            let stripe = nextStripe()
            let clock = (memory + clockStart).bindMemory(to: Clock.self, capacity: 1)
            clock.initialize(to: Clock(stripe: stripe, descriptor: timer, isVirtual: isVirtual))
            let loop = memory.bindMemory(to: LoopRecord.self, capacity: 1)
            loop.initialize(
                to: LoopRecord(
                    executor: executor, set: set, event: event, timer: timer,
                    isVirtual: isVirtual, clock: clock,
                    watches: makeWatchTable(in: memory + tablesStart, set: set, stripe: stripe)))
            enterLoop(loop, home: thread)
            return loop
        }
        giveMemoryBack(memory, loopSize)
    }
    if set >= 0 { vow_platform_close(set) }
    if event >= 0 { vow_platform_close(event) }
    if timer >= 0 { vow_platform_close(timer) }
    return nil
}

/// With the last reference to the executor, so after the loop was destroyed.
func freeLoop(_ loop: LoopPointer) {
    // Whoever added work until the loop was closed may have raised it until now.
    vow_platform_close(loop.pointee.event)
    #if VOW_CHECKED
        loop.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(loop, loopSize)
}
