// Sleeping until another thread says so: one word, futex underneath, no allocation.

import CVowPlatform

/// What the parking word of a waiting thread says. Its low 32 bits are what the kernel compares.
enum Parking {
    /// Still looking, or looking again.
    static let awake: UInt64 = 0
    /// In the kernel, or about to be: whoever changes the word must wake it.
    static let asleep: UInt64 = 1
    /// What was waited for has happened. Final.
    static let done: UInt64 = 2
    /// Something changed: look again.
    static let nudged: UInt64 = 3
    /// Running a loop, whose event is in the high half: raising it makes the thread look.
    static let inLoop: UInt64 = 4

    static func inLoop(raising event: Int32) -> UInt64 { inLoop | UInt64(event) << 32 }

    /// The same, and something has changed since it looked: it must not sleep before it has looked again.
    static let nudgedInLoop: UInt64 = 5

    /// The event of a thread that runs a loop; nil: it is parked.
    static func event(in word: UInt64) -> Int32? {
        let state = word & 0xffff_ffff
        return state == inLoop || state == nudgedInLoop ? Int32(word >> 32) : nil
    }

    static func isNudgedInLoop(_ word: UInt64) -> Bool { word & 0xffff_ffff == nudgedInLoop }

    /// A thread that sleeps so long, in nanoseconds, with memory that it may not need, wakes once and gives it back.
    static let longEnoughToTrim: Int64 = 100_000_000

    /// How often a thread looks before it sleeps. To explore schedules, once is as good as often.
    #if VOW_SCHEDULES
        static let looks = 1
    #else
        static let looks = 100
    #endif
}

struct Deadline {
    /// Nanoseconds of the monotonic clock; nil: never.
    let nanoseconds: Int64?

    static let never = Deadline(at: nil)

    /// So many nanoseconds from now; a sum beyond the clock's range is never.
    static func after(_ delay: Int64) -> Deadline {
        let (sum, overflow) = monotonicNow().addingReportingOverflow(delay)
        return Deadline(at: overflow ? nil : sum)
    }

    init(at nanoseconds: Int64?) { self.nanoseconds = nanoseconds }

    /// This one, but no later than so many nanoseconds from now.
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

/// Sleeps until the word says `done` or `nudged`, which is turned into `awake`. False when the deadline
/// has passed first.
func park(_ word: borrowing AtomicWord, at address: UnsafeRawPointer, until deadline: Deadline)
    -> Bool
{
    // Spin briefly: what is waited for is often about to happen on the other processor.
    for _ in 0..<Parking.looks {
        if word.loadRelaxed() != Parking.awake { break }
        vow_platform_relax()
    }
    let keepsSpares = word.peek() == Parking.awake && trimSpareMemory()
    // Acquires what the waker published before it wrote the word.
    var found = word.replaceAcquire(Parking.awake, Parking.asleep).original
    if found == Parking.awake {
        let inTime = sleep(address, until: deadline, keepsSpares: keepsSpares)
        found = word.replaceAcquire(Parking.asleep, Parking.awake).original
        if found == Parking.asleep { return inTime }
    }
    _ = word.replaceAcquire(Parking.nudged, Parking.awake)
    return true
}

/// - Parameter keepsSpares: the thread keeps memory that it does not need if it sleeps for long.
private func sleep(_ address: UnsafeRawPointer, until deadline: Deadline, keepsSpares: Bool) -> Bool
{
    if keepsSpares {
        if sleep(address, until: deadline.notAfter(Parking.longEnoughToTrim)) { return true }
        if deadline.hasPassed { return false }
        trimSpareMemory()
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

/// Says `done`. Releases what was waited for; after the exchange the thread may leave and its stack frame
/// be gone, so the address is only named to the kernel, never read.
func unparkDone(_ word: borrowing AtomicWord, at address: UnsafeRawPointer) {
    if word.exchangeAcquireRelease(Parking.done) == Parking.asleep { vow_platform_wake(address) }
}

/// Makes the thread look again, unless it is done already. The caller knows that the thread is there.
func unparkToLook(_ word: borrowing AtomicWord, at address: UnsafeRawPointer) {
    while true {
        if word.replaceAcquireRelease(Parking.awake, Parking.nudged).exchanged { return }
        let found = word.replaceAcquireRelease(Parking.asleep, Parking.nudged)
        if found.exchanged { vow_platform_wake(address) }
        if found.original != Parking.awake { return }
    }
}
