// Waiting for another thread: parking, a lock for a few instructions, and a back-off.
//
// A parked thread sleeps on one word until another thread wakes it, by a futex and without allocation. The lock is one word
// without set-up. A thread that does not get the lock soon sleeps: the holder may be a thread that it keeps from running. The
// back-off is for a thread that waits for another thread to finish a few instructions.

import CVowPlatform

// MARK: Parking

/// The states of a waiting thread's parking word. The kernel compares the low 32 bits.
enum Parking {
    /// The thread looks, or looks again.
    static let awake: UInt64 = 0
    /// The thread is in the kernel, or about to be: the thread that changes the word must wake it.
    static let asleep: UInt64 = 1
    /// The awaited event has happened. Final.
    static let done: UInt64 = 2
    /// Something has changed: the thread looks again.
    static let nudged: UInt64 = 3
    /// The thread runs a loop, whose event is in the high half: raising the event makes the thread look.
    static let inLoop: UInt64 = 4

    static func inLoop(raising event: Int32) -> UInt64 { inLoop | UInt64(event) << 32 }

    /// As `inLoop`, and something has changed since the thread looked: it looks again before it sleeps.
    static let nudgedInLoop: UInt64 = 5

    /// The event of a thread that runs a loop; nil for a parked thread.
    static func event(in word: UInt64) -> Int32? {
        let state = word & 0xffff_ffff
        return state == inLoop || state == nudgedInLoop ? Int32(word >> 32) : nil
    }

    static func isNudgedInLoop(_ word: UInt64) -> Bool { word & 0xffff_ffff == nudgedInLoop }

    /// While there is spare memory that a sleeping thread may have to give back, it wakes after this many nanoseconds.
    static let longEnoughToTrim: Int64 = 100_000_000

    /// The looks of a thread before it sleeps. For the schedules one is enough.
    #if VOW_SCHEDULES
        static let looks = 1
    #else
        static let looks = 100
    #endif
}

struct Deadline {
    /// Nanoseconds of the monotonic clock; nil: never.
    let nanoseconds: Int64?

    /// The nanoseconds from which a deadline was made; nil: never, or made of a moment.
    let delay: Int64?

    static let never = Deadline(at: nil)

    /// A deadline `delay` nanoseconds from now; a sum beyond the clock's range is `never`.
    static func after(_ delay: Int64) -> Deadline {
        let (sum, overflow) = monotonicNow().addingReportingOverflow(delay)
        return Deadline(at: overflow ? nil : sum, delay: overflow ? nil : delay)
    }

    init(at nanoseconds: Int64?, delay: Int64? = nil) {
        self.nanoseconds = nanoseconds
        self.delay = delay
    }

    /// This deadline, but at most `delay` nanoseconds from now.
    func notAfter(_ delay: Int64) -> Deadline {
        let limit = Deadline.after(delay)
        guard let own = nanoseconds, let other = limit.nanoseconds else {
            return nanoseconds == nil ? limit : self
        }
        return own < other ? self : limit
    }

    var hasPassed: Bool {
        guard let nanoseconds else { return false }
        return monotonicNow() >= nanoseconds
    }
}

func monotonicNow() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) &* 1_000_000_000 &+ Int64(now.tv_nsec)
}

/// Sleeps until the word is `done` or `nudged`, and turns `nudged` into `awake`. Returns false if the deadline passes first.
func park(_ word: borrowing AtomicWord, at address: UnsafeRawPointer, until deadline: Deadline)
    -> Bool
{
    // The awaited event is often about to happen on another processor, so the thread spins briefly.
    for _ in 0..<Parking.looks {
        if word.loadRelaxed() != Parking.awake { break }
        vow_platform_relax()
    }
    let keepsSpares = word.peek() == Parking.awake && trimSpareMemory()
    // Acquires everything that the waker wrote before the word.
    var found = word.replaceAcquire(Parking.awake, Parking.asleep).original
    if found == Parking.awake {
        let inTime = sleep(address, until: deadline, keepsSpares: keepsSpares)
        found = word.replaceAcquire(Parking.asleep, Parking.awake).original
        if found == Parking.asleep { return inTime }
    }
    _ = word.replaceAcquire(Parking.nudged, Parking.awake)
    return true
}

/// - Parameter keepsSpares: there is spare memory that is not needed in a long sleep.
private func sleep(_ address: UnsafeRawPointer, until deadline: Deadline, keepsSpares: Bool) -> Bool
{
    var keepsSpares = keepsSpares
    while keepsSpares {
        if sleep(address, until: deadline.notAfter(Parking.longEnoughToTrim)) { return true }
        if deadline.hasPassed { return false }
        keepsSpares = trimSpareMemory()
    }
    return sleep(address, until: deadline)
}

private func sleep(_ address: UnsafeRawPointer, until deadline: Deadline) -> Bool {
    guard let nanoseconds = deadline.nanoseconds else {
        return vow_platform_wait(address, UInt32(Parking.asleep), nil) != 0
    }
    var time = timespec()
    time.tv_sec = Int(nanoseconds / 1_000_000_000)
    time.tv_nsec = Int(nanoseconds % 1_000_000_000)
    return vow_platform_wait(address, UInt32(Parking.asleep), &time) != 0
}

/// Writes `done`, which releases, and returns the word before. After the exchange the waiting thread may leave and its stack
/// frame be gone, so the kernel gets the address as a number and nothing reads it.
@discardableResult
func unparkDone(_ word: borrowing AtomicWord, at address: UnsafeRawPointer) -> UInt64 {
    let before = word.exchangeAcquireRelease(Parking.done)
    if before == Parking.asleep { vow_platform_wake(address) }
    return before
}

/// Makes a thread look again, unless its word is `done`. The caller knows that the thread is there.
func unparkToLook(_ word: borrowing AtomicWord, at address: UnsafeRawPointer) {
    while true {
        if word.replaceAcquireRelease(Parking.awake, Parking.nudged).exchanged { return }
        let found = word.replaceAcquireRelease(Parking.asleep, Parking.nudged)
        if found.exchanged { vow_platform_wake(address) }
        if found.original != Parking.awake { return }
    }
}

// MARK: A lock for a few instructions
//
//   0   free
//   1   held
//   2   held, and a thread may be asleep
//
// The three states are Drepper's, "Futexes Are Tricky" (2011), mutex 2.

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

        /// A thread of the parent may have held the lock in a forked child, and never gives it back: then the lock is
        /// broken. The lists that it guards are whole after each step of a change.
        private func lockInChild() {
            var pause = Backoff()
            while word.exchangeAcquireRelease(awaited) != free {
                // The registry's lock is free when the child begins, and tells whether there are other threads.
                let isOnly = address != threadRegistryLock.address && isOnlyThread
                if isOnly || pause.isHopeless { return }
                pause.wait()
            }
        }

        /// The lock may be gone meanwhile, so the kernel gets its address as a number.
        @inline(never)
        private func wakeOne() { vow_platform_wake(address) }

        /// The low half comes first: the machine is little-endian.
        fileprivate var address: UnsafeRawPointer { word.address }
    #endif
}

// MARK: Backing off

/// Spins, then yields the processor, because the other thread may not be running, and then sleeps: a thread of a lower priority
/// gets the processor in no other way.
struct Backoff {
    static let spins = 64
    /// One word, because each step sets a `Backoff` up and hardly any waits.
    private var rounds = 0

    init() {}

    /// Whether the wait has taken about a second.
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
