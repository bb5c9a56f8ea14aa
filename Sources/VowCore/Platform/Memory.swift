// Where every byte of the core comes from: the program's allocator, or malloc; and the spare memory of promises.
//
// A thread keeps the memory of promises that it has freed for its next ones: taking it back from there costs a tenth of what
// the allocator does. The spare memory is bounded, by thread; what the thread did not need since it last rested goes when it
// rests again, and everything when it ends.
//
// No memory is kept where the program has an allocator of its own, which is to see everything; nor in builds that look for
// memory used after it was freed.

import CVowPlatform

/// The process-wide allocator. Set before the first thread enters the core, then only read, so the
/// reads need no ordering: `Threads.enter` publishes it under its lock.
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

/// At once: of what no handle leads to.
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
    /// A checked build keeps freed objects for a while instead of giving them back, so that a handle
    /// used after its release still finds the mark of a dead object.
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

/// Around a fork: the quarantine of a checked build has a lock.
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

/// Starts as zeroes, which keeps nothing.
struct SpareMemory {
    private var plain = SpareList()
    private var links = SpareList()
    private var extendedLinks = SpareList()
    private var carryingLinks = SpareList()
    private var isOpen = false

    /// Sizes that are worth keeping: of a promise, of a link, of a link with extras, of one that carries its context.
    fileprivate static let plainSize = 40
    fileprivate static let linkSize = 72
    fileprivate static let extendedLinkSize = 96
    fileprivate static let carryingLinkSize = 128

    /// So many of each size at most.
    fileprivate static let most: UInt32 = 1024
    /// So many of each size stay with a thread that rests, so that small work between two rests costs it nothing.
    static let few: UInt32 = 32

    /// For a thread whose end will be noticed.
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

    /// After `isLowest`.
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

    /// The thread is about to rest. True: the next rest gives something back if the thread does not need it until then.
    mutating func trim(_ counts: borrowing SpareCounts) -> Bool {
        let plainIsLeft = plain.trim(SpareMemory.plainSize, counts.plain)
        let linksAreLeft = links.trim(SpareMemory.linkSize, counts.links)
        let extendedLinksAreLeft = extendedLinks.trim(
            SpareMemory.extendedLinkSize, counts.extendedLinks)
        let carryingLinksAreLeft = carryingLinks.trim(
            SpareMemory.carryingLinkSize, counts.carryingLinks)
        return plainIsLeft || linksAreLeft || extendedLinksAreLeft || carryingLinksAreLeft
    }

    /// All of it. The counts are the caller's to set to 0.
    mutating func giveBack() {
        plain.giveBack(SpareMemory.plainSize)
        links.giveBack(SpareMemory.linkSize)
        extendedLinks.giveBack(SpareMemory.extendedLinkSize)
        carryingLinks.giveBack(SpareMemory.carryingLinkSize)
        if isOpen { beginEmpty() }
    }
}

/// What became of a piece.
enum Keeping {
    case kept
    /// It is the caller's to free.
    case refused
    /// The list was lower than ever since the thread last rested, which is to be noted: `keepLowest`.
    case isLowest
}

/// How many pieces a thread keeps. Only the owner writes; anybody reads. Beside the lists and not in them: to
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

/// The number of pieces, as what has never been needed since the thread last rested, and what there is beyond.
private struct SpareCount: ~Copyable, Sendable {
    /// 2^32 times the one, plus the other, which has a sign: so taking a piece subtracts 1 from the word and keeping one
    /// adds 1, and only the first to be kept after the list was lower than ever has to note it (`keepLowest`).
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

    /// What the list has never gone below.
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
    /// How many there may be beyond those that have not been needed.
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
        // One comparison for both: what is below 0 looks larger than any room.
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

    /// Gives back what was not needed since the last time, but for a few. Whether something else may follow.
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
