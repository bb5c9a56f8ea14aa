// The locks of clocks, of tables of descriptors and of hooks with handles: a few for all, in static memory. A timer or
// watch can be asked to stop when its clock is gone already, and a hook to leave when its promise is, so the lock must
// outlive that; and a fork holds them all.

private let stripeCount = 16
private let stripeSize = 64

/// Written once, before any thread has entered.
nonisolated(unsafe) private var stripes: UnsafeMutableRawPointer! = nil
private let lastStripe = AtomicWord(0)

/// Takes memory from the front of `storage`, which it moves on.
func prepareStripes(_ storage: inout UnsafeMutableRawPointer) {
    stripes = UnsafeMutableRawPointer(
        bitPattern: (UInt(bitPattern: storage) + 63) & ~63)
    for index in 0..<stripeCount { lock(of: index).initialize(to: SpinLock()) }
    storage = stripes + stripeCount * stripeSize
}

/// The process-wide clock has the first one for itself.
let processStripe = 0

func nextStripe() -> Int { 1 + Int(lastStripe.addRelaxed(1) % UInt64(stripeCount - 1)) }

/// One for who has but an address, or what is left of it. A schedule must not depend on that.
func stripe(for address: UInt) -> Int {
    #if VOW_SCHEDULES
        return 1
    #else
        return 1 + Int(address % UInt(stripeCount - 1))
    #endif
}

private func lock(of stripe: Int) -> UnsafeMutablePointer<SpinLock> {
    (stripes + stripe * stripeSize).assumingMemoryBound(to: SpinLock.self)
}

func withStripe<Result>(_ stripe: Int, _ body: () -> Result) -> Result {
    lock(of: stripe).pointee.withLock(body)
}

/// Around a fork.
func lockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.lock() } }
func unlockStripes() { for index in 0..<stripeCount { lock(of: index).pointee.unlock() } }
