// All memory of the core: it comes from the program's allocator or malloc, or from the spare memory of promises.
//
// A thread keeps the memory of promises that it has freed for its next ones, which costs a tenth of the allocator's time. The
// spare memory of a thread is bounded. When the thread rests, it frees the pieces that it has not needed since it last rested;
// when it ends, it frees all. A program with an allocator of its own is to see everything, so no memory is kept then; nor in
// builds that look for memory used after it was freed.

import CVowPlatform

/// The process-wide allocator. Set before the first thread enters the core, and constant then. Its reads need no ordering:
/// `enterThread` publishes it under the registry's lock.
struct AllocatorHooks {
    typealias Allocate = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
    typealias Deallocate =
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int) -> Void

    var allocate: Allocate?
    var deallocate: Deallocate?
    var context: UnsafeMutableRawPointer?
}

nonisolated(unsafe) var allocatorHooks = AllocatorHooks()

/// Memory aligned to 16, because the state word keeps its state in the low bits of addresses.
@inline(__always)
func allocateMemory(_ size: Int) -> UnsafeMutableRawPointer? {
    if allocatorHooks.allocate == nil { return malloc(size) }
    return allocateFromHooks(size)
}

@inline(__always)
func freeMemory(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    #if VOW_CHECKED
        quarantine(memory, size)
    #else
        returnMemory(memory, size)
    #endif
}

/// Frees memory at once, also in a checked build: no handle leads to it.
@inline(__always)
func returnMemory(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    if let deallocate = allocatorHooks.deallocate {
        deallocate(allocatorHooks.context, memory, size)
    } else {
        free(memory)
    }
}

@inline(never)
private func allocateFromHooks(_ size: Int) -> UnsafeMutableRawPointer? {
    guard let memory = allocatorHooks.allocate?(allocatorHooks.context, size) else { return nil }
    if UInt(bitPattern: memory) & 15 != 0 {
        fatal("vow_set_allocator: allocate returned memory that is not aligned to 16 bytes")
    }
    return memory
}

#if VOW_CHECKED
    /// A checked build keeps freed objects for a while, so that a handle used after its release finds the mark of a dead
    /// object.
    private let quarantineLock = SpinLock()
    nonisolated(unsafe) private var quarantineNext = 0

    private func quarantine(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        var old = vow_freed(memory: memory, size: size)
        quarantineLock.withLock {
            swap(&old, &vow_platform_freed()[quarantineNext])
            quarantineNext = (quarantineNext + 1) % Int(VOW_FREED_COUNT)
        }
        if let oldest = old.memory { returnMemory(oldest, old.size) }
    }
#endif

/// A fork holds the lock of a checked build's quarantine.
func lockFreedMemory() {
    #if VOW_CHECKED
        quarantineLock.lock()
    #endif
}

func unlockFreedMemory() {
    #if VOW_CHECKED
        quarantineLock.unlock()
    #endif
}

// MARK: Spare memory

/// The storage starts as zeroes: no memory is kept.
struct SpareMemory {
    private var plain = SpareList()
    private var links = SpareList()
    private var extendedLinks = SpareList()
    private var carryingLinks = SpareList()
    private var isOpen = false

    /// The kept sizes: a promise, a link, a link with extras, a link that carries its context.
    fileprivate static let plainSize = 40
    fileprivate static let linkSize = 72
    fileprivate static let extendedLinkSize = 96
    fileprivate static let carryingLinkSize = 128

    /// The most pieces of each size.
    fileprivate static let most: UInt32 = 1024
    /// The pieces of each size that stay with a resting thread, so that small work between two rests costs it nothing.
    static let few: UInt32 = 32

    /// Called for a thread whose end will be noticed.
    mutating func open() {
        #if !(VOW_CHECKED || VOW_SANITIZED || VOW_SCHEDULES)
            if allocatorHooks.allocate == nil { beginEmpty() }
        #endif
    }

    private mutating func beginEmpty() {
        isOpen = true
        plain.beginEmpty()
        links.beginEmpty()
        extendedLinks.beginEmpty()
        carryingLinks.beginEmpty()
    }

    @inline(__always)
    mutating func take(_ size: Int, _ counts: borrowing SpareCounts) -> UnsafeMutableRawPointer? {
        switch size {
        case SpareMemory.plainSize: plain.take(counts.plain)
        case SpareMemory.linkSize: links.take(counts.links)
        case SpareMemory.extendedLinkSize: extendedLinks.take(counts.extendedLinks)
        case SpareMemory.carryingLinkSize: carryingLinks.take(counts.carryingLinks)
        default: nil
        }
    }

    @inline(__always)
    mutating func keep(
        _ memory: UnsafeMutableRawPointer, _ size: Int, _ counts: borrowing SpareCounts
    ) -> Keeping {
        switch size {
        case SpareMemory.plainSize: plain.keep(memory, counts.plain)
        case SpareMemory.linkSize: links.keep(memory, counts.links)
        case SpareMemory.extendedLinkSize: extendedLinks.keep(memory, counts.extendedLinks)
        case SpareMemory.carryingLinkSize: carryingLinks.keep(memory, counts.carryingLinks)
        default: .refused
        }
    }

    mutating func keepLowest(
        _ memory: UnsafeMutableRawPointer, _ size: Int, _ counts: borrowing SpareCounts
    ) {
        switch size {
        case SpareMemory.plainSize: plain.keepLowest(memory, counts.plain)
        case SpareMemory.linkSize: links.keepLowest(memory, counts.links)
        case SpareMemory.extendedLinkSize: extendedLinks.keepLowest(memory, counts.extendedLinks)
        default: carryingLinks.keepLowest(memory, counts.carryingLinks)
        }
    }

    /// Called before the thread rests. Returns true if the next rest frees something that the thread does not need until then.
    mutating func trim(_ counts: borrowing SpareCounts) -> Bool {
        let plainIsLeft = plain.trim(SpareMemory.plainSize, counts.plain)
        let linksAreLeft = links.trim(SpareMemory.linkSize, counts.links)
        let extendedLinksAreLeft = extendedLinks.trim(
            SpareMemory.extendedLinkSize, counts.extendedLinks)
        let carryingLinksAreLeft = carryingLinks.trim(
            SpareMemory.carryingLinkSize, counts.carryingLinks)
        return plainIsLeft || linksAreLeft || extendedLinksAreLeft || carryingLinksAreLeft
    }

    /// Frees all pieces. The caller sets the counts to 0.
    mutating func giveBack() {
        plain.giveBack(SpareMemory.plainSize)
        links.giveBack(SpareMemory.linkSize)
        extendedLinks.giveBack(SpareMemory.extendedLinkSize)
        carryingLinks.giveBack(SpareMemory.carryingLinkSize)
        if isOpen { beginEmpty() }
    }
}

enum Keeping {
    case kept
    /// The caller frees the piece.
    case refused
    /// The list was at its lowest since the thread last rested: the caller notes that with `keepLowest`.
    case isLowest
}

/// The numbers of pieces that a thread keeps. Only the owner writes; any thread reads. They stand beside the lists: to
/// ThreadSanitizer, changing a list is an access to its beginning.
struct SpareCounts: ~Copyable, Sendable {
    fileprivate let plain = SpareCount()
    fileprivate let links = SpareCount()
    fileprivate let extendedLinks = SpareCount()
    fileprivate let carryingLinks = SpareCount()

    var bytes: UInt64 {
        UInt64(plain.kept) &* UInt64(SpareMemory.plainSize)
            &+ UInt64(links.kept) &* UInt64(SpareMemory.linkSize)
            &+ UInt64(extendedLinks.kept) &* UInt64(SpareMemory.extendedLinkSize)
            &+ UInt64(carryingLinks.kept) &* UInt64(SpareMemory.carryingLinkSize)
    }

    func reset() {
        plain.begin(with: 0)
        links.begin(with: 0)
        extendedLinks.begin(with: 0)
        carryingLinks.begin(with: 0)
    }
}

/// The number of pieces: the pieces never needed since the thread last rested, and those beyond.
private struct SpareCount: ~Copyable, Sendable {
    /// 2^32 times the first number, plus the second, which has a sign. So taking a piece subtracts 1 and keeping one adds 1.
    /// Only the first piece kept after a new lowest level has to note that (`keepLowest`).
    private let word = AtomicWord(0)

    init() {}

    @inline(__always)
    var bits: UInt64 { word.peek() }

    @inline(__always)
    func set(_ bits: UInt64) { word.poke(bits) }

    @inline(__always)
    func takeOne() { word.poke(word.peek() &- 1) }

    private static func beyond(_ bits: UInt64) -> Int32 { Int32(truncatingIfNeeded: bits) }

    private static func total(_ bits: UInt64) -> UInt32 {
        let beyond = beyond(bits)
        let notNeeded = (Int64(bitPattern: bits) &- Int64(beyond)) >> 32
        return UInt32(truncatingIfNeeded: notNeeded &+ Int64(beyond))
    }

    var kept: UInt32 { SpareCount.total(bits) }

    /// The number of pieces below which the list has not gone.
    var notNeeded: UInt32 {
        let now = bits
        let beyond = SpareCount.beyond(now)
        return beyond < 0
            ? SpareCount.total(now) : UInt32(Int64(SpareCount.total(now)) - Int64(beyond))
    }

    func begin(with kept: UInt32) { word.poke(UInt64(kept) << 32) }
}

/// Each piece begins with the address of the next.
private struct SpareList {
    private var first: UnsafeMutableRawPointer?
    /// The most pieces beyond those that have not been needed.
    private var room: UInt32 = 0

    mutating func beginEmpty() { room = SpareMemory.most }

    @inline(__always)
    mutating func take(_ count: borrowing SpareCount) -> UnsafeMutableRawPointer? {
        guard let memory = first else { return nil }
        first = memory.load(as: UnsafeMutableRawPointer?.self)
        count.takeOne()
        return memory
    }

    @inline(__always)
    mutating func keep(_ memory: UnsafeMutableRawPointer, _ count: borrowing SpareCount) -> Keeping
    {
        let bits = count.bits
        let beyond = Int32(truncatingIfNeeded: bits)
        // One comparison for both: a number below 0 looks larger than any room.
        if UInt32(bitPattern: beyond) >= room { return beyond < 0 ? .isLowest : .refused }
        push(memory)
        count.set(bits &+ 1)
        return .kept
    }

    mutating func keepLowest(_ memory: UnsafeMutableRawPointer, _ count: borrowing SpareCount) {
        begin(with: count.kept, count)
        push(memory)
        count.set(count.bits &+ 1)
    }

    @inline(__always)
    private mutating func push(_ memory: UnsafeMutableRawPointer) {
        memory.storeBytes(of: first, as: UnsafeMutableRawPointer?.self)
        first = memory
    }

    private mutating func begin(with kept: UInt32, _ count: borrowing SpareCount) {
        count.begin(with: kept)
        room = SpareMemory.most - kept
    }

    /// Frees the pieces that were not needed since the last rest, but for a few. Returns whether the next rest may free more.
    mutating func trim(_ size: Int, _ count: borrowing SpareCount) -> Bool {
        var kept = count.kept
        if kept <= SpareMemory.few { return false }
        let end = kept - min(count.notNeeded, kept - SpareMemory.few)
        while kept > end, let memory = pop() {
            freeMemory(memory, size)
            kept -= 1
        }
        begin(with: kept, count)
        return kept > SpareMemory.few
    }

    private mutating func pop() -> UnsafeMutableRawPointer? {
        guard let memory = first else { return nil }
        first = memory.load(as: UnsafeMutableRawPointer?.self)
        return memory
    }

    mutating func giveBack(_ size: Int) {
        while let memory = pop() { freeMemory(memory, size) }
    }
}
