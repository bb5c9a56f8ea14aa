// Where a promise is made: looked up on the stack, and named by the loader. Both take locks of the system's, which a
// forked child would find held for ever by a thread that it does not have. So nobody is at it while the process forks:
// whoever forks waits for those who are, and whoever comes meanwhile goes without a site. Nobody waits for him: he may
// hold the loader's lock, which those inside wait for.

import CVowPlatform

private enum Gate {
    /// Low half: how many are looking.
    static let one: UInt64 = 1
    static let looking: UInt64 = 0xffff_ffff
    /// High half: how many are about to fork.
    static let fork: UInt64 = 1 << 32
}

private let siteGate = AtomicWord(0)

/// The site of whoever has called the library, known by its name; nil: it cannot be told.
func siteOfCaller() -> UnsafeRawPointer? {
    // Ordered, like what the forking thread does: one of them sees the other.
    let before = siteGate.addOrdered(Gate.one)
    defer { _ = siteGate.subtractOrdered(Gate.one) }
    if before >= Gate.fork { return nil }
    let site = vow_platform_site()
    nameSite(site)
    return site
}

/// Before any lock is taken that those inside may want.
func closeSiteGate() {
    _ = siteGate.addOrdered(Gate.fork)
    var pause = Backoff()
    while siteGate.loadOrdered() & Gate.looking != 0 { pause.wait() }
}

func openSiteGate() { _ = siteGate.subtractOrdered(Gate.fork) }

/// In a forked child: who had just come is not there.
func forgetSiteGate() { siteGate.storeRelaxed(0) }
