// Sites: the places where promises are made, looked up on the stack, and named by the loader once for each site. Both
// take locks of the system. So neither happens under `traceLock`: a thread that loads a library has the loader's lock,
// and the library's constructors may come here.
//
// A forked child would find those locks held for ever by a thread that it does not have. So the forking thread, before
// it takes any lock of ours, waits for the threads that are looking. A thread that comes meanwhile has no site. It does
// not wait for the fork: it may hold the loader's lock, for which the threads inside wait. Both sides count in one word
// with sequentially consistent steps: either the forking thread sees the other one, or that one sees the fork.

import CVowPlatform

private enum Gate {
    /// Low half: how many threads are looking.
    static let one: UInt64 = 1
    static let looking: UInt64 = 0xffff_ffff
    /// High half: how many threads are about to fork.
    static let fork: UInt64 = 1 << 32
}

private let siteGate = AtomicWord(0)

/// The site, with its name, from which the library was called; nil: it cannot be told.
func siteOfCaller() -> UnsafeRawPointer? {
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

/// Before any lock is taken that the threads inside may want.
func closeSiteGate() {
    _ = siteGate.addOrdered(Gate.fork)
    var pause = Backoff()
    while siteGate.loadOrdered() & Gate.looking != 0 { pause.wait() }
}

func openSiteGate() { _ = siteGate.subtractOrdered(Gate.fork) }

/// In a forked child: the threads that had just come are not there.
func forgetSiteGate() { siteGate.storeRelaxed(0) }
