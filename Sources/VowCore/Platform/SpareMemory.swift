// Memory of promises that a thread has freed and keeps for its next ones: taking it back from there costs a tenth of
// what the allocator does. Bounded, by thread, and given back when the thread ends.
//
// Not where the program has an allocator of its own, which is to see everything; and not in builds that look for
// memory used after it was freed.

/// Starts as zeroes, which keeps nothing.
struct SpareMemory {
    private var plain = SpareList()
    private var links = SpareList()
    private var extendedLinks = SpareList()
    private var most: UInt32 = 0

    /// Sizes that are worth keeping: of a promise, of a link, of a link with extras.
    private static let plainSize = 40
    private static let linkSize = 72
    private static let extendedLinkSize = 96

    /// For a thread whose end will be noticed.
    mutating func open() {
        #if !(VOW_CHECKED || VOW_SANITIZED || VOW_SCHEDULES)
            if allocatorHooks.allocate == nil { most = 1024 }
        #endif
    }

    @inline(__always)
    mutating func take(_ size: Int) -> UnsafeMutableRawPointer? {
        switch size {
        case SpareMemory.plainSize: plain.take()
        case SpareMemory.linkSize: links.take()
        case SpareMemory.extendedLinkSize: extendedLinks.take()
        default: nil
        }
    }

    /// False: the memory is the caller's to free.
    @inline(__always)
    mutating func keep(_ memory: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        switch size {
        case SpareMemory.plainSize: plain.keep(memory, most)
        case SpareMemory.linkSize: links.keep(memory, most)
        case SpareMemory.extendedLinkSize: extendedLinks.keep(memory, most)
        default: false
        }
    }

    mutating func giveBack() {
        most = 0
        while let memory = plain.take() { freeMemory(memory, SpareMemory.plainSize) }
        while let memory = links.take() { freeMemory(memory, SpareMemory.linkSize) }
        while let memory = extendedLinks.take() { freeMemory(memory, SpareMemory.extendedLinkSize) }
    }
}

/// Each piece begins with the address of the next.
private struct SpareList {
    private var first: UnsafeMutableRawPointer?
    private var count: UInt32 = 0

    @inline(__always)
    mutating func take() -> UnsafeMutableRawPointer? {
        guard let memory = first else { return nil }
        first = memory.load(as: UnsafeMutableRawPointer?.self)
        count &-= 1
        return memory
    }

    @inline(__always)
    mutating func keep(_ memory: UnsafeMutableRawPointer, _ most: UInt32) -> Bool {
        if count >= most { return false }
        memory.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
        first = memory
        count &+= 1
        return true
    }
}
