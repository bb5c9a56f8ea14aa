// Where promises are made: looked up on the stack, and named by the loader, once for each site. Both take locks of the
// system's: so neither is done under `traceLock`, which the constructors of a library that is being loaded may want.
//
// A forked child would find those locks held for ever by a thread that it does not have. So no thread is at it while
// the process forks: the forking thread waits for those that are, and a thread that comes meanwhile goes without a site.
// That one does not wait for the fork: it may hold the loader's lock, which those inside wait for.

import CVowPlatform

private enum Gate {
    /// Low half: how many threads are looking.
    static let one: UInt64 = 1
    static let looking: UInt64 = 0xffff_ffff
    /// High half: how many threads are about to fork.
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
    if let site { nameSite(site) }
    return site
}

/// Without memory the site stays nameless.
private func nameSite(_ site: UnsafeRawPointer) {
    guard withTrace({ $0.sites.find(site) == nil }) == true else { return }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestText + 1) { name in
        _ = vow_platform_describe_site(site, name.baseAddress, longestText + 1)
        withTrace { trace in
            // Another thread may have come first.
            guard let entry = trace.sites.find(site) ?? trace.sites.insert(site) else { return }
            setLabel(of: entry, name.baseAddress, most: longestText)
        }
    }
}

/// Before any lock is taken that those inside may want.
func closeSiteGate() {
    _ = siteGate.addOrdered(Gate.fork)
    var pause = Backoff()
    while siteGate.loadOrdered() & Gate.looking != 0 { pause.wait() }
}

func openSiteGate() { _ = siteGate.subtractOrdered(Gate.fork) }

/// In a forked child: a thread that had just come is not there.
func forgetSiteGate() { siteGate.storeRelaxed(0) }
