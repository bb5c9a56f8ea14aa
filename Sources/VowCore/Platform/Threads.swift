// The threads that have entered the core: each counts for itself, and the sums are taken on request. And threads of our own,
// which are the pool's.

import CVowPlatform

/// Counters of one thread, or of all threads that are gone. Only the owner writes; anybody reads.
struct Counters: ~Copyable, Sendable {
    let promisesMade = AtomicWord(0)
    let promisesSettled = AtomicWord(0)
    let promisesFreed = AtomicWord(0)
    let promisesFreedPending = AtomicWord(0)
    let handlersRegistered = AtomicWord(0)
    let handlersDone = AtomicWord(0)
    let bytesTaken = AtomicWord(0)
    let bytesFreed = AtomicWord(0)
    /// Reactions handed to the pool, its drains or libdispatch, and done there.
    let workGiven = AtomicWord(0)
    let workEnded = AtomicWord(0)
}

/// The sums over all threads. A moment's view while threads are working.
struct CounterSums {
    var promisesMade: UInt64 = 0
    var promisesSettled: UInt64 = 0
    var promisesFreed: UInt64 = 0
    var promisesFreedPending: UInt64 = 0
    var handlersRegistered: UInt64 = 0
    var handlersDone: UInt64 = 0
    var bytesTaken: UInt64 = 0
    var bytesFreed: UInt64 = 0
    var workGiven: UInt64 = 0
    var workEnded: UInt64 = 0
    /// What threads keep of freed promises; those that are gone keep nothing.
    var spareBytes: UInt64 = 0

    mutating func add(_ counters: borrowing Counters) {
        promisesMade &+= counters.promisesMade.loadRelaxed()
        promisesSettled &+= counters.promisesSettled.loadRelaxed()
        promisesFreed &+= counters.promisesFreed.loadRelaxed()
        promisesFreedPending &+= counters.promisesFreedPending.loadRelaxed()
        handlersRegistered &+= counters.handlersRegistered.loadRelaxed()
        handlersDone &+= counters.handlersDone.loadRelaxed()
        bytesTaken &+= counters.bytesTaken.loadRelaxed()
        bytesFreed &+= counters.bytesFreed.loadRelaxed()
        workGiven &+= counters.workGiven.loadRelaxed()
        workEnded &+= counters.workEnded.loadRelaxed()
    }
}

/// The beginning of every thread's storage, which starts as zeroes.
struct ThreadCell: ~Copyable {
    /// Neighbours in the list of entered threads; touched under the registry's lock only. They come
    /// first: to ThreadSanitizer, changing a field is an access to the beginning of the struct, and
    /// the counters are other threads' to read.
    var next: UnsafeMutablePointer<ThreadCell>?
    var previous: UnsafeMutablePointer<ThreadCell>?
    /// Its end will be noticed.
    var isListed: Bool
    let counters: Counters
    let spareCounts: SpareCounts

    /// Its `SpareMemory`: not a field, for the same reason.
    static let spares = 144
    /// What the floors above keep for the thread begins here.
    static let rest = 224
}

typealias CellPointer = UnsafeMutablePointer<ThreadCell>

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadCell {
    @inline(__always)
    var spares: UnsafeMutablePointer<SpareMemory> {
        (UnsafeMutableRawPointer(self) + ThreadCell.spares)
            .assumingMemoryBound(to: SpareMemory.self)
    }
}

/// Of this thread, which has entered.
@inline(__always)
func threadCell() -> UnsafeMutablePointer<ThreadCell> {
    vow_platform_thread().unsafelyUnwrapped.assumingMemoryBound(to: ThreadCell.self)
}

/// The list of entered threads and the sums of those that have left. All under the lock.
struct ThreadRegistry {
    var first: UnsafeMutablePointer<ThreadCell>?
    /// Those that a forked child does not have: kept where leak checkers find them.
    var leftBehind: UnsafeMutablePointer<ThreadCell>?
    var departed = CounterSums()
    var hasBegun = false
}

let threadRegistryLock = SpinLock()
nonisolated(unsafe) var threadRegistry = ThreadRegistry()

/// Called once per thread, before it touches anything else. `start` runs once in the process.
@inline(never)
func enterThread(start: @escaping @convention(c) () -> Void) -> UnsafeMutableRawPointer {
    // The allocator that gives the storage gets it back, so from now on it is too late for another one.
    threadRegistryLock.withLock { threadRegistry.hasBegun = true }
    let memory = allocateMemory(MemoryLayout<vow_thread_storage>.size)
    guard let storage = vow_platform_open_thread(memory) else { fatal("a thread has no storage") }
    vow_platform_once(start)
    let cell = threadCell()
    // A thread whose end would go unnoticed must not be in the list. Its counts are missed then.
    let isListed = vow_platform_at_thread_exit(leaveThread) != 0
    threadRegistryLock.withLock {
        cell.pointee.isListed = isListed
        if !isListed { return }
        cell.spares.pointee.open()
        cell.pointee.next = threadRegistry.first
        cell.pointee.previous = nil
        threadRegistry.first?.pointee.previous = cell
        threadRegistry.first = cell
    }
    return storage
}

/// What the floors above do when a thread ends. Written once, before any thread has entered.
nonisolated(unsafe) var beforeThreadLeaves: @convention(c) () -> Void = {}

/// At thread exit the counters move to the departed. A thread that still uses the core afterwards, from
/// another thread-local's destructor, enters again.
private func leaveThread() {
    guard vow_platform_thread() != nil else { return }
    let cell = threadCell()
    beforeThreadLeaves()
    var spares = SpareMemory()
    threadRegistryLock.withLock {
        threadRegistry.departed.add(cell.pointee.counters)
        cell.pointee.previous?.pointee.next = cell.pointee.next
        cell.pointee.next?.pointee.previous = cell.pointee.previous
        if threadRegistry.first == cell { threadRegistry.first = cell.pointee.next }
        spares = cell.spares.pointee
    }
    if let memory = vow_platform_close_thread() {
        returnMemory(memory, MemoryLayout<vow_thread_storage>.size)
    }
    spares.giveBack()
}

/// In a forked child only the forking thread goes on: the others' counters move to the departed and the list keeps
/// one member. Their storage stays as it is, for they were in the middle of something.
func forgetOtherThreads() {
    let mine = vow_platform_thread()?.assumingMemoryBound(to: ThreadCell.self)
    var member = threadRegistry.first
    while let cell = member {
        member = cell.pointee.next
        if cell == mine { continue }
        threadRegistry.departed.add(cell.pointee.counters)
        cell.pointee.next = threadRegistry.leftBehind
        threadRegistry.leftBehind = cell
    }
    threadRegistry.first = mine
    mine?.pointee.next = nil
    mine?.pointee.previous = nil
}

/// Whether no other thread has entered: in a forked child, until it has threads of its own that use the core.
var isOnlyThread: Bool {
    let mine = threadCell()
    return threadRegistryLock.withLock {
        threadRegistry.first == mine && mine.pointee.next == nil
    }
}

@inline(never)
func sumCounters() -> CounterSums {
    threadRegistryLock.withLock {
        var sums = threadRegistry.departed
        var member = threadRegistry.first
        while let cell = member {
            sums.add(cell.pointee.counters)
            sums.spareBytes &+= cell.pointee.spareCounts.bytes
            member = cell.pointee.next
        }
        return sums
    }
}

@inline(__always)
func count(_ counter: borrowing AtomicWord, _ amount: Int = 1) {
    counter.addAsOnlyWriter(UInt64(truncatingIfNeeded: amount))
}

/// Memory that is counted for `vow_stats`. The calling thread has entered.
@inline(never)
func takeMemory(_ size: Int) -> UnsafeMutableRawPointer? { takeMemoryHere(size, threadCell()) }

/// The same, for where most records are made: by who knows the thread's cell, which need not be looked up again.
@inline(__always)
func takeMemoryHere(_ size: Int, _ cell: CellPointer) -> UnsafeMutableRawPointer? {
    guard
        let memory = cell.spares.pointee.take(size, cell.pointee.spareCounts)
            ?? allocateMemory(size)
    else { return nil }
    count(cell.pointee.counters.bytesTaken, size)
    return memory
}

@inline(never)
func giveMemoryBack(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    giveMemoryBackHere(memory, size, threadCell())
}

@inline(__always)
func giveMemoryBackHere(_ memory: UnsafeMutableRawPointer, _ size: Int, _ cell: CellPointer) {
    count(cell.pointee.counters.bytesFreed, size)
    switch cell.spares.pointee.keep(memory, size, cell.pointee.spareCounts) {
    case .kept: return
    case .refused: freeMemory(memory, size)
    case .isLowest: keepLowest(memory, size)
    }
}

@inline(never)
private func keepLowest(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    let cell = threadCell()
    cell.spares.pointee.keepLowest(memory, size, cell.pointee.spareCounts)
}

/// For a thread that is about to rest: gives back what it kept before it last rested and has not needed since. True:
/// it keeps more, which goes at the next rest if it is not needed until then.
@discardableResult
func trimSpareMemory() -> Bool {
    let cell = threadCell()
    return cell.spares.pointee.trim(cell.pointee.spareCounts)
}

/// Gives back all that the calling thread keeps. Returns how many bytes.
func giveSpareMemoryBack() -> Int {
    let cell = threadCell()
    let bytes = cell.pointee.spareCounts.bytes
    cell.spares.pointee.giveBack()
    cell.pointee.spareCounts.reset()
    return Int(bytes)
}

/// Of the calling thread: enough for one more wait inside of another.
func hasStackLeft() -> Bool { vow_platform_has_stack_left() != 0 }

// MARK: Threads of our own

typealias ThreadMain =
    @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

/// Runs `main` on a new thread that ends with it. False when the system gives none.
func startThread(_ main: @escaping ThreadMain, _ context: UnsafeMutableRawPointer? = nil) -> Bool {
    vow_platform_start_thread(main, context) != 0
}

/// The processor's time that one thread has had.
struct ThreadClock {
    private let clock: clockid_t

    /// The calling thread's, which may be read for as long as that is there.
    static var own: ThreadClock { ThreadClock(clock: vow_platform_own_clock()) }

    var nanoseconds: Int64 { vow_platform_time_of(clock) }
}
