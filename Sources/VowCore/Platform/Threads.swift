// The threads that have entered the core. Each counts for itself, and the sums are taken on request. The end of the file starts
// threads of the library's own.

import CVowPlatform

/// Counters of one thread. Only the owner writes; any thread reads.
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

/// The sums over all threads: a moment's view while threads work.
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
    /// Spare memory of freed promises: of the threads, which keep none when they have ended, and of the depot.
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
    /// Neighbours in the list of entered threads, under the registry's lock. They come first: to ThreadSanitizer, changing a
    /// field is an access to the beginning of the struct, and other threads read the counters.
    var next: UnsafeMutablePointer<ThreadCell>?
    var previous: UnsafeMutablePointer<ThreadCell>?
    /// Whether the end of the thread will be noticed.
    var isListed: Bool
    let counters: Counters
    let spareCounts: SpareCounts

    /// The offset of its `SpareMemory`, which is no field, for the same reason.
    static let spares = 144
    /// The offset of the state that the floors above keep for the thread.
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

/// The cell of this thread, which has entered.
@inline(__always)
func threadCell() -> UnsafeMutablePointer<ThreadCell> {
    vow_platform_thread().unsafelyUnwrapped.assumingMemoryBound(to: ThreadCell.self)
}

/// The entered threads and the sums of those that have left. All fields are under the lock.
struct ThreadRegistry {
    var first: UnsafeMutablePointer<ThreadCell>?
    /// Threads that a forked child does not have: kept where leak checkers find them.
    var leftBehind: UnsafeMutablePointer<ThreadCell>?
    var departed = CounterSums()
    var hasBegun = false
}

let threadRegistryLock = SpinLock()
nonisolated(unsafe) var threadRegistry = ThreadRegistry()

/// Called once per thread, before it touches anything else. `start` runs once in the process.
@inline(never)
func enterThread(start: @escaping @convention(c) () -> Void) -> UnsafeMutableRawPointer {
    // The allocator that gave the storage must free it, so from now on no other allocator can be set.
    threadRegistryLock.withLock { threadRegistry.hasBegun = true }
    let memory = allocateMemory(MemoryLayout<vow_thread_storage>.size)
    guard let storage = vow_platform_open_thread(memory) else { fatal("a thread has no storage") }
    vow_platform_once(start)
    let cell = threadCell()
    // A thread whose end would go unnoticed must not be in the list, so its counts are missed.
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

/// The work of the floors above when a thread ends. Written once, before any thread has entered.
nonisolated(unsafe) var beforeThreadLeaves: @convention(c) () -> Void = {}

/// Adds the ending thread's counters to the departed. A thread that uses the core once more, from another thread-local's
/// destructor, enters again.
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

/// In a forked child only the forking thread goes on: the others' counters move to the departed, and the list keeps one member.
/// The others' storage stays as it is, because they were in the middle of a change.
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

/// Whether no other thread has entered: so in a forked child until other threads of it use the core.
var isOnlyThread: Bool {
    guard vow_platform_thread() != nil else { return false }
    let mine = threadCell()
    return threadRegistryLock.withLock {
        threadRegistry.first == mine && mine.pointee.next == nil
    }
}

@inline(never)
func sumCounters() -> CounterSums {
    var sums = threadRegistryLock.withLock {
        var sums = threadRegistry.departed
        var member = threadRegistry.first
        while let cell = member {
            sums.add(cell.pointee.counters)
            sums.spareBytes &+= cell.pointee.spareCounts.bytes
            member = cell.pointee.next
        }
        return sums
    }
    sums.spareBytes &+= bytesInDepot
    return sums
}

@inline(__always)
func count(_ counter: borrowing AtomicWord, _ amount: Int = 1) {
    counter.addAsOnlyWriter(UInt64(truncatingIfNeeded: amount))
}

/// Takes memory that `vow_stats` counts. The calling thread has entered.
@inline(never)
func takeMemory(_ size: Int) -> UnsafeMutableRawPointer? { takeMemoryHere(size, threadCell()) }

/// As `takeMemory`, without a look-up of the thread's cell.
@inline(__always)
func takeMemoryHere(_ size: Int, _ cell: CellPointer) -> UnsafeMutableRawPointer? {
    guard
        let memory = cell.spares.pointee.take(size, cell.pointee.spareCounts)
            ?? takeMemoryElsewhere(size)
    else { return nil }
    count(cell.pointee.counters.bytesTaken, size)
    return memory
}

@inline(never)
private func takeMemoryElsewhere(_ size: Int) -> UnsafeMutableRawPointer? {
    if depotIsEmpty { return allocateMemory(size) }
    let cell = threadCell()
    return cell.spares.pointee.takeFromDepot(size, cell.pointee.spareCounts)
        ?? allocateMemory(size)
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
    case .notKept: freeMemory(memory, size)
    case .undecided: giveMemoryBackSlowly(memory, size)
    }
}

@inline(never)
private func giveMemoryBackSlowly(_ memory: UnsafeMutableRawPointer, _ size: Int) {
    let cell = threadCell()
    if !cell.spares.pointee.keepSlowly(memory, size, cell.pointee.spareCounts) {
        freeMemory(memory, size)
    }
}

/// Frees the memory that the thread kept before it last rested and has not needed since, and such memory of the depot. Returns
/// true if the next rest may free more.
@discardableResult
@inline(never)
func trimSpareMemory() -> Bool {
    let cell = threadCell()
    let isLeft = cell.spares.pointee.trim(cell.pointee.spareCounts)
    return trimDepot() || isLeft
}

/// Frees all that the calling thread and the depot keep. Returns the number of bytes.
func giveSpareMemoryBack() -> Int {
    let cell = threadCell()
    let bytes = cell.pointee.spareCounts.bytes
    cell.spares.pointee.giveBack()
    cell.pointee.spareCounts.reset()
    return Int(bytes) + emptyDepot()
}

/// Whether the calling thread has stack for one more wait inside of another.
func hasStackLeft() -> Bool { vow_platform_has_stack_left() != 0 }

// MARK: Threads of the library

typealias ThreadMain =
    @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?

/// Runs `main` on a new thread that ends with it. Returns false if the system gives none.
func startThread(_ main: @escaping ThreadMain, _ context: UnsafeMutableRawPointer? = nil) -> Bool {
    vow_platform_start_thread(main, context) != 0
}

/// The processor time of one thread.
struct ThreadClock {
    private let clock: clockid_t

    /// The calling thread's clock, which may be read as long as the thread is there.
    static var own: ThreadClock { ThreadClock(clock: vow_platform_own_clock()) }

    var nanoseconds: Int64 { vow_platform_time_of(clock) }
}
