// What the places are called where promises were made: asked of the loader once for each, and not under the tracing's
// lock. Who loads a library has the loader's lock, and its constructors may come here.

import CVowPlatform

/// Under the tracing's lock, like the table of records.
struct SiteNames {
    private typealias Name = (site: UnsafeRawPointer?, text: UnsafeMutablePointer<CChar>?)

    /// A power of two; no names: 0.
    private var capacity = 0
    private var count = 0
    private var names: UnsafeMutablePointer<Name>?

    static let longest = 511

    func find(_ site: UnsafeRawPointer) -> UnsafePointer<CChar>? {
        guard let names else { return nil }
        let place = self.place(of: site, in: names)
        return UnsafePointer(names[place].text)
    }

    /// Copied. Without memory it stays nameless.
    mutating func add(_ site: UnsafeRawPointer, _ text: UnsafePointer<CChar>) {
        if find(site) != nil || ((count + 1) * 4 > capacity * 3 && !grow()) { return }
        guard let names else { return }
        let length = strlen(text)
        guard let copy = allocateMemory(length + 1) else { return }
        memcpy(copy, text, length + 1)
        names[place(of: site, in: names)] = (
            site, copy.bindMemory(to: CChar.self, capacity: length + 1)
        )
        count += 1
    }

    mutating func removeAll() {
        guard let names else { return }
        for place in 0..<capacity {
            if let text = names[place].text { freeMemory(text, strlen(text) + 1) }
        }
        freeMemory(names, capacity * MemoryLayout<Name>.stride)
        self.names = nil
        capacity = 0
        count = 0
    }

    /// Where it stands, or would.
    private func place(of site: UnsafeRawPointer, in names: UnsafeMutablePointer<Name>) -> Int {
        var place = Int(hashOfAddress(site) >> 32) & (capacity - 1)
        while let other = names[place].site, other != site { place = (place + 1) & (capacity - 1) }
        return place
    }

    private mutating func grow() -> Bool {
        let (old, oldCapacity) = (names, capacity)
        let larger = capacity == 0 ? 64 : capacity * 2
        let size = larger * MemoryLayout<Name>.stride
        guard let memory = allocateMemory(size) else { return false }
        memset(memory, 0, size)
        let new = memory.bindMemory(to: Name.self, capacity: larger)
        names = new
        capacity = larger
        guard let old else { return true }
        for index in 0..<oldCapacity {
            if let site = old[index].site { new[place(of: site, in: new)] = old[index] }
        }
        freeMemory(old, oldCapacity * MemoryLayout<Name>.stride)
        return true
    }
}

/// Before a record is entered that was made there.
func nameSite(_ site: UnsafeRawPointer?) {
    guard let site, withTrace({ $0.sites.find(site) == nil }) == true else { return }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: SiteNames.longest + 1) { name in
        guard let name = name.baseAddress else { return }
        _ = vow_platform_describe_site(site, name, SiteNames.longest + 1)
        withTrace { $0.sites.add(site, name) }
    }
}
