// A lock for a few instructions, in one word, that needs no memory and no set-up. Who does not get it soon sleeps: the
// holder may be a thread that this one keeps from running.
//
//   0   free
//   1   held
//   2   held, and somebody may be asleep
//
// The three states are Drepper's, "Futexes Are Tricky" (2011), mutex 2.

import CVowPlatform

private let free: UInt64 = 0
private let held: UInt64 = 1
private let awaited: UInt64 = 2

struct SpinLock: ~Copyable, Sendable {
    private let word = AtomicWord(free)

    init() {}

    /// Acquires; pairs with the release in `unlock`. Never held across foreign code.
    @inline(__always)
    func lock() {
        if !word.replaceAcquire(free, held).exchanged { lockSlowly() }
    }

    @inline(never)
    func unlock() {
        #if VOW_SCHEDULES
            word.storeRelease(free)
        #else
            if word.exchangeAcquireRelease(free) == awaited { wakeOne() }
        #endif
    }

    @inline(__always)
    func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    #if VOW_SCHEDULES
        private func lockSlowly() {
            var pause = Backoff()
            while !word.replaceAcquire(free, held).exchanged { pause.wait() }
        }
    #else
        @inline(never)
        private func lockSlowly() {
            for _ in 0..<Backoff.spins {
                if word.loadRelaxed() == free && word.replaceAcquire(free, held).exchanged {
                    return
                }
                vow_platform_relax()
            }
            if isForkedChild {
                lockInChild()
                return
            }
            while word.exchangeAcquireRelease(awaited) != free {
                _ = vow_platform_wait(address, UInt32(awaited), nil)
            }
        }

        /// In a forked child a thread of the parent may have held it, which never gives it back: then it is broken. What it
        /// guards are lists, which a thread that goes along them finds whole, whatever step of a change was the last.
        private func lockInChild() {
            var pause = Backoff()
            while word.exchangeAcquireRelease(awaited) != free {
                // The registry's own is free as the child begins, and tells who else there is.
                let isOnly = address != threadRegistryLock.address && isOnlyThread
                if isOnly || pause.isHopeless { return }
                pause.wait()
            }
        }

        /// The lock may be taken, given up and gone meanwhile: its address is only named to the kernel.
        @inline(never)
        private func wakeOne() { vow_platform_wake(address) }

        /// Little-endian, so the low half comes first.
        fileprivate var address: UnsafeRawPointer { word.address }
    #endif
}
