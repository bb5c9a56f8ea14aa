// All memory of the core: it comes from the program's allocator or malloc, or from the spare memory of promises.
//
// A thread keeps the memory of promises that it has freed for its next ones, which costs a tenth of the allocator's time. The
// spare memory of a thread is bounded. When the thread rests, it gives up the pieces that it has not needed since it last rested;
// when it ends, it frees all. A program with an allocator of its own is to see everything, so no memory is kept then; nor in
// builds that look for memory used after it was freed. Threads exchange what they keep through the depot.

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

/// A fork holds the lock of the depot, and of a checked build's quarantine.
func lockFreedMemory() {
    depotLock.lock()
    #if VOW_CHECKED
        quarantineLock.lock()
    #endif
}

func unlockFreedMemory() {
    depotLock.unlock()
    #if VOW_CHECKED
        quarantineLock.unlock()
    #endif
}

// MARK: Spare memory

/// The storage starts as zeroes: no memory is kept.
struct SpareMemory {
    /// A list for each kept size.
    private var lists: [4 of SpareList] = [SpareList(), SpareList(), SpareList(), SpareList()]
    private var isOpen = false

    /// Of a promise, a link, a link with extras, a link that carries its context.
    @inline(__always)
    fileprivate static var sizes: [4 of Int] { [40, 72, 96, 128] }

    @inline(__always)
    fileprivate static func place(of size: Int) -> Int? {
        switch size {
        case sizes[0]: 0
        case sizes[1]: 1
        case sizes[2]: 2
        case sizes[3]: 3
        default: nil
        }
    }

    /// The largest kept size instead of one that is a little smaller, as a delay's.
    static func keptSize(for size: Int) -> Int {
        size > sizes[2] && size < sizes[3] ? sizes[3] : size
    }

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
        for place in 0..<4 { lists[place].beginEmpty() }
    }

    @inline(__always)
    mutating func take(_ size: Int, _ counts: borrowing SpareCounts) -> UnsafeMutableRawPointer? {
        switch size {
        case SpareMemory.sizes[0]: lists[0].take(counts.ofSize[0])
        case SpareMemory.sizes[1]: lists[1].take(counts.ofSize[1])
        case SpareMemory.sizes[2]: lists[2].take(counts.ofSize[2])
        case SpareMemory.sizes[3]: lists[3].take(counts.ofSize[3])
        default: nil
        }
    }

    @inline(__always)
    mutating func keep(
        _ memory: UnsafeMutableRawPointer, _ size: Int, _ counts: borrowing SpareCounts
    ) -> Keeping {
        switch size {
        case SpareMemory.sizes[0]: lists[0].keep(memory, counts.ofSize[0])
        case SpareMemory.sizes[1]: lists[1].keep(memory, counts.ofSize[1])
        case SpareMemory.sizes[2]: lists[2].keep(memory, counts.ofSize[2])
        case SpareMemory.sizes[3]: lists[3].keep(memory, counts.ofSize[3])
        default: .notKept
        }
    }

    /// Takes a piece of the depot, and keeps the rest of its batch.
    mutating func takeFromDepot(
        _ size: Int, _ counts: borrowing SpareCounts
    ) -> UnsafeMutableRawPointer? {
        guard isOpen, let place = SpareMemory.place(of: size), let batch = takeBatch(place) else {
            return nil
        }
        lists[place].begin(with: batch, counts.ofSize[place])
        return lists[place].take(counts.ofSize[place])
    }

    /// `keep` for a list that is full, after it has given a batch to the depot, or that is at its lowest. Returns false if nothing is
    /// kept.
    mutating func keepSlowly(
        _ memory: UnsafeMutableRawPointer, _ size: Int, _ counts: borrowing SpareCounts
    ) -> Bool {
        guard isOpen, let place = SpareMemory.place(of: size) else { return false }
        let batch = lists[place].makeRoom(counts.ofSize[place])
        lists[place].keepLast(memory, counts.ofSize[place])
        if let batch { layAside(batch, place) }
        return true
    }

    /// Called before the thread rests. Returns true if the next rest frees something that the thread does not need until then.
    mutating func trim(_ counts: borrowing SpareCounts) -> Bool {
        var isLeft = false
        for place in 0..<4 {
            isLeft = lists[place].trim(at: place, counts.ofSize[place]) || isLeft
        }
        return isLeft
    }

    /// Frees all pieces. The caller sets the counts to 0.
    mutating func giveBack() {
        for place in 0..<4 { lists[place].giveBack(SpareMemory.sizes[place]) }
        if isOpen { beginEmpty() }
    }
}

enum Keeping {
    case kept
    /// Memory of this size is not kept: the caller frees the piece.
    case notKept
    /// The list is full, keeps nothing, or is at its lowest since the thread last rested: `keepSlowly` follows.
    case undecided
}

/// The numbers of pieces that a thread keeps. Only the owner writes; any thread reads. They stand beside the lists: to
/// ThreadSanitizer, changing a list is an access to its beginning.
struct SpareCounts: ~Copyable, Sendable {
    fileprivate let ofSize: [4 of SpareCount] = [
        SpareCount(), SpareCount(), SpareCount(), SpareCount(),
    ]

    var bytes: UInt64 {
        var sum: UInt64 = 0
        for place in 0..<4 {
            sum &+= UInt64(ofSize[place].kept) &* UInt64(SpareMemory.sizes[place])
        }
        return sum
    }

    func reset() { for place in 0..<4 { ofSize[place].begin(with: 0) } }
}

/// The number of pieces: the pieces never needed since the thread last rested, and those beyond.
private struct SpareCount: ~Copyable, Sendable {
    /// 2^32 times the first number, plus the second, which has a sign. So taking a piece subtracts 1 and keeping one adds 1.
    /// Only the first piece kept after a new lowest level has to note that (`makeRoom`).
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

    var isLowest: Bool { SpareCount.beyond(bits) < 0 }

    /// As many pieces were kept as taken since the thread last rested.
    var isLevel: Bool { SpareCount.beyond(bits) == 0 }

    /// The number of pieces below which the list has not gone.
    var notNeeded: UInt32 {
        let now = bits
        let beyond = SpareCount.beyond(now)
        return beyond < 0
            ? SpareCount.total(now) : UInt32(Int64(SpareCount.total(now)) - Int64(beyond))
    }

    func begin(with kept: UInt32) { begin(with: kept, notNeeded: kept) }

    func begin(with kept: UInt32, notNeeded: UInt32) {
        word.poke(UInt64(notNeeded) << 32 &+ UInt64(kept - notNeeded))
    }
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
        if UInt32(bitPattern: beyond) >= room { return .undecided }
        push(memory)
        count.set(bits &+ 1)
        return .kept
    }

    /// Keeps a piece, for which there is room.
    mutating func keepLast(_ memory: UnsafeMutableRawPointer, _ count: borrowing SpareCount) {
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

    /// The list is empty.
    mutating func begin(with batch: UnsafeMutableRawPointer, _ count: borrowing SpareCount) {
        first = batch
        begin(with: sizeOfBatch, count)
    }

    /// Makes room for a piece: notes that the list is at its lowest, or takes a batch off a full list.
    mutating func makeRoom(_ count: borrowing SpareCount) -> UnsafeMutableRawPointer? {
        if count.isLowest {
            begin(with: count.kept, count)
            return nil
        }
        guard let batch = cut() else { return nil }
        let kept = count.kept - sizeOfBatch
        let notNeeded = min(count.notNeeded, kept)
        count.begin(with: kept, notNeeded: notNeeded)
        room = SpareMemory.most - notNeeded
        return batch
    }

    /// Takes a batch off a list that has as many pieces.
    private mutating func cut() -> UnsafeMutableRawPointer? {
        guard let batch = first else { return nil }
        var last = batch
        for _ in 1..<sizeOfBatch {
            guard let next = last.load(as: UnsafeMutableRawPointer?.self) else { return nil }
            last = next
        }
        first = last.load(as: UnsafeMutableRawPointer?.self)
        last.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
        return batch
    }

    /// Gives up the pieces that were not needed since the last rest, but for a few: batches to the depot. What is less than a batch
    /// is freed if the thread was idle; else it would be lost to the other threads. Returns whether the next rest may give up more.
    mutating func trim(at place: Int, _ count: borrowing SpareCount) -> Bool {
        var kept = count.kept
        if kept <= SpareMemory.few { return false }
        let end = kept - min(count.notNeeded, kept - SpareMemory.few)
        let wasIdle = count.isLevel
        while kept >= end + sizeOfBatch, let batch = cut() {
            layAside(batch, place)
            kept -= sizeOfBatch
        }
        while wasIdle, kept > end, let memory = pop() {
            freeMemory(memory, SpareMemory.sizes[place])
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

// MARK: The depot
//
// Promises that a thread makes and another thread frees move memory from the first thread's lists to the second's. A thread
// with a full list, or that rests, gives batches of pieces to the depot, and a thread with an empty list takes a batch, so neither
// calls the allocator, and a batch costs one section under `depotLock` (Bonwick and Adams, "Magazines and Vmem", 2001). Only the
// batch's owner, or the depot under the lock, reads or writes its pieces.
//
// The depot is bounded. A thread that rests frees the batches that were not needed since a thread last did so, a tenth of a
// second ago or longer.

/// The pieces of a batch: each begins with the address of the next. The second word of the first is the next batch's.
private let sizeOfBatch: UInt32 = 64

private let depotLock = SpinLock()
nonisolated(unsafe) private var depot = Depot()
/// The batches of each shelf, in 16 bits each, for threads that do not hold the lock, under which the word is written.
private let depotCounts = AtomicWord(0)
var depotIsEmpty: Bool { depotCounts.loadRelaxed() == 0 }

private func batchesInDepot(_ place: Int) -> Int {
    Int(depotCounts.loadRelaxed() >> UInt64(16 * place) & 0xffff)
}

private struct Shelf {
    private var first: UnsafeMutableRawPointer?
    private(set) var batches = 0
    /// The fewest batches since the last `trim`.
    private var fewest = 0

    static let most = 64
    private static let toNextBatch = MemoryLayout<UnsafeMutableRawPointer?>.stride

    init() {}

    mutating func push(_ batch: UnsafeMutableRawPointer) -> Bool {
        if batches == Shelf.most { return false }
        batch.storeBytes(
            of: first, toByteOffset: Shelf.toNextBatch, as: UnsafeMutableRawPointer?.self)
        first = batch
        batches += 1
        return true
    }

    mutating func pop() -> UnsafeMutableRawPointer? {
        guard let batch = first else { return nil }
        first = batch.load(
            fromByteOffset: Shelf.toNextBatch, as: UnsafeMutableRawPointer?.self)
        batches -= 1
        fewest = min(fewest, batches)
        return batch
    }

    /// A batch that was not needed since this function last returned nil.
    mutating func popNotNeeded() -> UnsafeMutableRawPointer? {
        if fewest == 0 {
            fewest = batches
            return nil
        }
        fewest -= 1
        return pop()
    }
}

private struct Depot {
    /// A shelf for each kept size.
    private var shelves: [4 of Shelf] = [Shelf(), Shelf(), Shelf(), Shelf()]
    private var lastTrim: Int64 = 0

    init() {}

    /// Changes a shelf, and its count.
    mutating func change<Result>(_ place: Int, _ body: (inout Shelf) -> Result) -> Result {
        let before = shelves[place].batches
        let result = body(&shelves[place])
        let added = UInt64(truncatingIfNeeded: shelves[place].batches - before)
        depotCounts.addAsOnlyWriter(added << UInt64(16 * place))
        return result
    }

    mutating func mayTrim(at now: Int64) -> Bool {
        if now - lastTrim < Parking.longEnoughToTrim { return false }
        lastTrim = now
        return true
    }
}

/// Frees the batch instead if the depot has no room for it.
private func layAside(_ batch: UnsafeMutableRawPointer, _ place: Int) {
    if !depotLock.withLock({ depot.change(place) { $0.push(batch) } }) { freeBatch(batch, place) }
}

private func takeBatch(_ place: Int) -> UnsafeMutableRawPointer? {
    if batchesInDepot(place) == 0 { return nil }
    return depotLock.withLock { depot.change(place) { $0.pop() } }
}

private func freeBatch(_ batch: UnsafeMutableRawPointer, _ place: Int) {
    var piece: UnsafeMutableRawPointer? = batch
    while let memory = piece {
        piece = memory.load(as: UnsafeMutableRawPointer?.self)
        freeMemory(memory, SpareMemory.sizes[place])
    }
}

private func bytesOfBatch(_ place: Int) -> Int { Int(sizeOfBatch) * SpareMemory.sizes[place] }

var bytesInDepot: UInt64 {
    var sum = 0
    for place in 0..<4 { sum += batchesInDepot(place) * bytesOfBatch(place) }
    return UInt64(sum)
}

/// Called before a thread rests. Returns true if this thread is to call again, after a tenth of a second, for there may be more:
/// one thread does so.
func trimDepot() -> Bool {
    if depotIsEmpty { return false }
    let now = monotonicNow()
    if !depotLock.withLock({ depot.mayTrim(at: now) }) { return false }
    _ = freeBatches(all: false)
    return !depotIsEmpty
}

func emptyDepot() -> Int { freeBatches(all: true) }

/// Returns the number of bytes.
@inline(never)
private func freeBatches(all: Bool) -> Int {
    var freed = 0
    for place in 0..<4 {
        // Other threads may put as many there meanwhile.
        for _ in 0..<Shelf.most {
            let batch = depotLock.withLock {
                depot.change(place) { all ? $0.pop() : $0.popNotNeeded() }
            }
            guard let batch else { break }
            freeBatch(batch, place)
            freed += bytesOfBatch(place)
        }
    }
    return freed
}
