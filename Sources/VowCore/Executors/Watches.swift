// Watching descriptors, each for one event: on a loop's thread in the loop's set, elsewhere in the set of the process.
//
// The lock of its stripe guards a table. A watch in a table is one producer's reference, and the thread that takes the watch
// out, under the lock, owns it. The kernel is told the union of the events that a descriptor's watches want. The watches of
// a descriptor are a list; the oldest ones of all descriptors are a treap in the watches' own memory, sorted by descriptors
// and, from the root down, by ranks that are as good as random. If the kernel no longer knows a descriptor, its watches are
// taken out in the same step and put on the table's list `lost`; the holder of the lock takes that list along and fires it
// after the lock.
//
// The watcher is a thread that sleeps on the process's set. When a descriptor is ready, it calls a worker and rests until that
// worker has fired the watches. Code that a watch calls may be slow, or wait for another descriptor: so the worker sets a timer
// before foreign code runs, and if the timer is due first, the watcher looks again. Each call of a worker is followed by a
// wake-up from the timer or the worker; a look that finds nothing does no harm.

import CVow
import CVowPlatform

enum WatchStart {
    case started
    /// The descriptor is always ready.
    case always
    case refused, noMemory
}

/// Starts watching a descriptor, which is open. The watch may fire before the function returns.
func startWatch(_ watch: WatchPointer, _ thread: ThreadPointer) -> WatchStart {
    let loop = loopHere(thread)
    defer { loop?.release(thread) }
    guard let table: WatchTablePointer = loop?.pointee.watches ?? processTable else {
        fatal("there is no table of watches")
    }
    if table == processTable && refusesWork { return .refused }
    if table == processTable && !prepareKeeper(thread) { return .noMemory }
    var lost: WatchPointer?
    let start: WatchStart = withStripe(table.pointee.stripe) {
        if table.pointee.isClosed { return .refused }
        if table == processTable && !hasProcessSet() { return .noMemory }
        let failure = table.add(watch)
        #if VOW_CHECKED
            if table == processTable { table.lookForLost() }
        #endif
        lost = table.takeLost()
        switch failure {
        case 0: return .started
        case EPERM: return .always
        default: return .noMemory
        }
    }
    if lost != nil { _ = fireLost(lost, thread) }
    return start
}

/// Returns the number of watches.
private func fireLost(_ list: WatchPointer?, _ thread: ThreadPointer) -> Int {
    var fired = 0
    var next = list
    asOneStep(thread) {
        while let watch = next {
            next = watch.pointee.next
            fired += 1
            watch.pointee.fire(watch, 0, thread)
        }
    }
    return fired
}

#if VOW_CHECKED
    /// Fires the watches of closed descriptors, which the kernel does not report. Returns their number.
    func fireClosed(_ table: WatchTablePointer, _ thread: ThreadPointer) -> Int {
        let lost: WatchPointer? = withStripe(table.pointee.stripe) {
            if table.pointee.isClosed || table.pointee.set < 0 { return nil }
            table.lookForLost()
            return table.takeLost()
        }
        if lost == nil { return 0 }
        let fired = fireLost(lost, thread)
        leave(thread)
        return fired
    }
#endif

/// Returns true if the watch will never fire and the kernel has forgotten it; false if it has fired or is about to.
func stopWatch(_ watch: WatchPointer, _ thread: ThreadPointer) -> Bool {
    var lost: WatchPointer?
    let isStopped = withStripe(watch.pointee.stripe) {
        guard let table = watch.pointee.table else { return false }
        table.remove(watch)
        lost = table.takeLost()
        return true
    }
    if lost != nil { _ = fireLost(lost, thread) }
    return isStopped
}

/// Fires the ready watches of up to 64 descriptors, and returns their number. All of them settle before foreign code runs,
/// which might read data that another watch announces, or wait for that watch.
/// - Parameter allAreSettled: called between the two.
func fireWatches(
    _ table: WatchTablePointer, _ thread: ThreadPointer, then allAreSettled: () -> Void = {}
) -> Int {
    let set: Int32 = withStripe(table.pointee.stripe) {
        table.pointee.count == 0 || table.pointee.isClosed ? -1 : table.pointee.set
    }
    if set < 0 { return 0 }
    return withUnsafeTemporaryAllocation(of: vow_platform_ready.self, capacity: 64) { ready in
        var fired = 0
        asOneStep(thread) {
            for index in 0..<Int(vow_platform_look(set, ready.baseAddress, 64)) {
                fired += fire(ready[index], in: table, thread)
            }
            allAreSettled()
        }
        leave(thread)
        return fired
    }
}

private func fire(
    _ found: vow_platform_ready, in table: WatchTablePointer, _ thread: ThreadPointer
) -> Int {
    var fired = 0
    var lost: WatchPointer?
    var list: WatchPointer? = withStripe(table.pointee.stripe) {
        if table.pointee.isClosed { return nil }
        let taken = table.take(found.descriptor, found.events)
        lost = table.takeLost()
        return taken
    }
    while let watch = list {
        list = watch.pointee.next
        fired += 1
        watch.pointee.fire(watch, found.events & watch.pointee.events, thread)
    }
    return lost == nil ? fired : fired + fireLost(lost, thread)
}

/// Fires all watches of a table that ends.
func closeWatches(_ table: WatchTablePointer, _ thread: ThreadPointer) {
    let stripe = table.pointee.stripe
    withStripe(stripe) { table.pointee.isClosed = true }
    while let watch = withStripe(stripe, { table.takeAny() }) {
        watch.pointee.fire(watch, 0, thread)
    }
}

// MARK: The table of a set

typealias WatchPointer = UnsafeMutablePointer<WatchNode>
typealias WatchTablePointer = UnsafeMutablePointer<WatchTable>

/// The owner keeps a watch in place until it was stopped or has fired. Under the lock of its table.
struct WatchNode {
    let descriptor: Int32
    let events: UInt32
    /// The next newer watch of the descriptor; in a list that was taken out, the next watch.
    var next: WatchPointer?
    /// Nil while the watch is in no table.
    var table: WatchTablePointer?
    /// The number of the table's lock; valid after the table is gone.
    var stripe = 0
    /// Called once, without a lock, unless the watch is stopped first. Without events: the loop was destroyed, or, with
    /// `isLost`, the program has closed the descriptor.
    fileprivate(set) var isLost = false
    let fire: (WatchPointer, UInt32, ThreadPointer) -> Void
    /// The next older watch; in the oldest one, the newest.
    fileprivate var previous: WatchPointer?
    fileprivate var place = TreePlace()

    init(
        _ descriptor: Int32, _ events: UInt32,
        _ fire: @escaping (WatchPointer, UInt32, ThreadPointer) -> Void
    ) {
        self.descriptor = descriptor
        self.events = events
        self.fire = fire
    }
}

/// The place of a descriptor, kept in its oldest watch.
private struct TreePlace {
    var left: WatchPointer?
    var right: WatchPointer?
    var readers = 0
    var writers = 0

    var wanted: UInt32 { (readers > 0 ? VOW_READ : 0) | (writers > 0 ? VOW_WRITE : 0) }

    mutating func count(_ events: UInt32, _ step: Int) {
        if events & VOW_READ != 0 { readers += step }
        if events & VOW_WRITE != 0 { writers += step }
    }
}

struct WatchTable {
    /// The kernel's set; -1 until it is needed.
    var set: Int32
    let stripe: Int
    var count = 0
    /// The table takes no watches and leaves the set alone: its loop is destroyed, or belongs to the parent of a forked child.
    var isClosed = false
    fileprivate var root: WatchPointer?
    /// Watches that were taken out because their descriptors were closed. The holder of the lock fires them after it.
    fileprivate var lost: WatchPointer?

    static var size: Int { (MemoryLayout<WatchTable>.stride + 15) & ~15 }

    init(set: Int32, stripe: Int) {
        self.set = set
        self.stripe = stripe
    }
}

func makeWatchTable(in memory: UnsafeMutableRawPointer, set: Int32, stripe: Int)
    -> WatchTablePointer
{
    let table = memory.bindMemory(to: WatchTable.self, capacity: 1)
    table.initialize(to: WatchTable(set: set, stripe: stripe))
    return table
}

/// A place in the tree that points to a watch.
private typealias Link = UnsafeMutablePointer<WatchPointer?>

extension WatchTablePointer {
    /// Returns 0 or an errno.
    func add(_ watch: WatchPointer) -> Int32 {
        let descriptor = watch.pointee.descriptor
        if let before = link(to: descriptor).pointee?.pointee.place.wanted {
            tellKernel(descriptor, before | watch.pointee.events)
        }
        let oldest = link(to: descriptor).pointee
        if oldest == nil {
            let failure = vow_platform_watch(pointee.set, descriptor, watch.pointee.events)
            if failure != 0 { return failure }
        }
        watch.pointee.table = self
        watch.pointee.stripe = pointee.stripe
        watch.pointee.next = nil
        if let oldest {
            watch.pointee.previous = oldest.pointee.previous
            oldest.pointee.previous?.pointee.next = watch
            oldest.pointee.previous = watch
        } else {
            watch.pointee.previous = watch
            plant(watch)
        }
        (oldest ?? watch).pointee.place.count(watch.pointee.events, 1)
        pointee.count += 1
        return 0
    }

    /// Takes out the watches of a descriptor that want one of the events, oldest first.
    func take(_ descriptor: Int32, _ events: UInt32) -> WatchPointer? {
        let link = link(to: descriptor)
        var first: WatchPointer?
        var last: WatchPointer?
        var rest: UInt32 = 0
        var next = link.pointee
        while let watch = next {
            next = watch.pointee.next
            if watch.pointee.events & events == 0 { continue }
            rest = takeOut(watch, of: link)
            if let last { last.pointee.next = watch } else { first = watch }
            last = watch
        }
        if first != nil { tellKernel(descriptor, rest) }
        return first
    }

    func remove(_ watch: WatchPointer) {
        let descriptor = watch.pointee.descriptor
        tellKernel(descriptor, takeOut(watch, of: link(to: descriptor)))
    }

    /// Takes out any watch.
    func takeAny() -> WatchPointer? {
        let any = pointee.root
        if let any { remove(any) }
        return any
    }

    /// The kernel forgets a closed descriptor, whose number may be given to another file. Its watches are lost then.
    private func tellKernel(_ descriptor: Int32, _ wanted: UInt32) {
        if pointee.isClosed || vow_platform_change_watch(pointee.set, descriptor, wanted) == 0 {
            return
        }
        let link = link(to: descriptor)
        while let watch = link.pointee, watch.pointee.descriptor == descriptor {
            _ = takeOut(watch, of: link)
            watch.pointee.isLost = true
            watch.pointee.next = pointee.lost
            pointee.lost = watch
        }
    }

    /// The caller fires the returned watches.
    func takeLost() -> WatchPointer? {
        let lost = pointee.lost
        if lost != nil { pointee.lost = nil }
        return lost
    }

    #if VOW_CHECKED
        func lookForLost() {
            var next = descriptor(after: -1)
            while let (one, wanted) = next {
                tellKernel(one, wanted)
                next = descriptor(after: one)
            }
        }

        private func descriptor(after last: Int32) -> (Int32, UInt32)? {
            var found: WatchPointer?
            var node = pointee.root
            while let watch = node {
                if watch.pointee.descriptor > last {
                    found = watch
                    node = watch.pointee.place.left
                } else {
                    node = watch.pointee.place.right
                }
            }
            return found.map { ($0.pointee.descriptor, $0.pointee.place.wanted) }
        }
    #endif

    /// Takes a watch out of its descriptor's list. Returns the events that the remaining watches want.
    private func takeOut(_ watch: WatchPointer, of link: Link) -> UInt32 {
        guard let oldest = link.pointee else { fatal("a watch is not in its table") }
        oldest.pointee.place.count(watch.pointee.events, -1)
        let wanted = oldest.pointee.place.wanted
        let next = watch.pointee.next
        if watch != oldest {
            watch.pointee.previous?.pointee.next = next
            (next ?? oldest).pointee.previous = watch.pointee.previous
        } else if let next {
            next.pointee.previous = watch.pointee.previous
            next.pointee.place = watch.pointee.place
            link.pointee = next
        } else {
            uproot(link)
        }
        watch.pointee.next = nil
        watch.pointee.table = nil
        pointee.count -= 1
        return wanted
    }

    private var rootLink: Link { withUnsafeMutablePointer(to: &pointee.root) { $0 } }

    /// The place that points to a descriptor's oldest watch, or the empty place where it belongs.
    private func link(to descriptor: Int32) -> Link {
        var link = rootLink
        while let other = link.pointee, other.pointee.descriptor != descriptor {
            link = descriptor < other.pointee.descriptor ? other.left : other.right
        }
        return link
    }

    /// Enters the first watch of a descriptor into the tree.
    private func plant(_ watch: WatchPointer) {
        let descriptor = watch.pointee.descriptor
        var link = rootLink
        while let other = link.pointee, other.rank > watch.rank {
            link = descriptor < other.pointee.descriptor ? other.left : other.right
        }
        var rest = link.pointee
        link.pointee = watch
        var (smaller, larger) = (watch.left, watch.right)
        while let other = rest {
            if other.pointee.descriptor < descriptor {
                smaller.pointee = other
                smaller = other.right
            } else {
                larger.pointee = other
                larger = other.left
            }
            rest = other.pointee.descriptor < descriptor ? smaller.pointee : larger.pointee
        }
        smaller.pointee = nil
        larger.pointee = nil
    }

    /// Takes the last watch of a descriptor out of the tree.
    private func uproot(_ start: Link) {
        guard let watch = start.pointee else { return }
        var link = start
        var (smaller, larger) = (watch.pointee.place.left, watch.pointee.place.right)
        while let left = smaller, let right = larger {
            if left.rank > right.rank {
                link.pointee = left
                link = left.right
                smaller = link.pointee
            } else {
                link.pointee = right
                link = right.left
                larger = link.pointee
            }
        }
        link.pointee = smaller ?? larger
    }
}

extension WatchPointer {
    fileprivate var left: Link { withUnsafeMutablePointer(to: &pointee.place.left) { $0 } }
    fileprivate var right: Link { withUnsafeMutablePointer(to: &pointee.place.right) { $0 } }

    /// Different descriptors have different ranks.
    fileprivate var rank: UInt32 {
        var bits = UInt32(bitPattern: pointee.descriptor)
        bits = (bits ^ bits >> 16) &* 0x7feb_352d
        bits = (bits ^ bits >> 15) &* 0x846c_a68b
        return bits ^ bits >> 16
    }
}

// MARK: The set of the process

/// Written once, before any thread has entered. The first watch makes its set.
nonisolated(unsafe) private(set) var processTable: WatchTablePointer! = nil

/// All fields are under the table's lock, which is the clock's, too.
private struct Watching {
    let patience: TimerPointer
    /// The timer is in the clock, or about to fire.
    var isPatient = false
    /// The watcher exists.
    var isThere = false
    /// An event that wakes the watcher for its end; -1: none.
    var farewell: Int32 = -1
}

nonisolated(unsafe) private var watching: UnsafeMutablePointer<Watching>! = nil

private let watcherWord = AtomicWord(Parking.awake)

/// Takes memory from the front of `storage` and advances it.
func prepareProcessWatches(_ storage: inout UnsafeMutableRawPointer) {
    processTable = makeWatchTable(in: storage, set: -1, stripe: processStripe)
    storage += WatchTable.size
    let patience = storage.bindMemory(to: TimerNode.self, capacity: 1)
    patience.initialize(to: TimerNode { _, _, _ in isOver() })
    storage += (MemoryLayout<TimerNode>.stride + 15) & ~15
    watching = storage.bindMemory(to: Watching.self, capacity: 1)
    watching.initialize(to: Watching(patience: patience))
    storage += (MemoryLayout<Watching>.stride + 15) & ~15
}

/// Makes the set and the watcher. The caller holds the table's lock, and the keeper exists. Returns false without memory,
/// descriptors or a thread.
func hasProcessSet() -> Bool {
    if processTable.pointee.set < 0 { processTable.pointee.set = vow_platform_make_set() }
    if processTable.pointee.set < 0 { return false }
    if !watching.pointee.isThere { watching.pointee.isThere = startThread(watcherMain) }
    return watching.pointee.isThere
}

private func watcherMain(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    vow_platform_name_thread("vow watcher")
    let thread = currentThread()
    while let set = withStripe(processStripe, { processTable.pointee.openSet }) {
        _ = vow_platform_sleep(set, -1)
        submitEvent(.watches, thread)
        _ = park(watcherWord, at: watcherWord.address, until: .never)
    }
    withStripe(processStripe) {
        if watching.pointee.farewell >= 0 { vow_platform_close(watching.pointee.farewell) }
        watching.pointee.farewell = -1
    }
    return nil
}

extension WatchTable {
    /// Nil once the table is closed.
    fileprivate var openSet: Int32? { isClosed ? nil : set }
}

private func lookAgain() { unparkToLook(watcherWord, at: watcherWord.address) }

func fireProcessWatches(_ thread: ThreadPointer) {
    _ = fireWatches(processTable, thread) { withStripe(processStripe) { bePatient() } }
    withStripe(processStripe) {
        if watching.pointee.isPatient, watching.pointee.patience.pointee.clock != nil {
            watching.pointee.isPatient = false
            processClock.pointee.remove(watching.pointee.patience)
        }
    }
    lookAgain()
}

/// Sets the timer. Under the lock, before foreign code runs.
private func bePatient() {
    if watching.pointee.isPatient || processClock.pointee.isClosed { return }
    watching.pointee.isPatient = true
    watching.pointee.patience.pointee.clock = processClock
    let now = monotonicNow()
    processClock.pointee.add(watching.pointee.patience, at: now + eventPatience, now: now)
}

/// Called by the timer; calls no foreign code.
private func isOver() {
    withStripe(processStripe) { watching.pointee.isPatient = false }
    lookAgain()
}

func closeProcessWatches(_ thread: ThreadPointer) {
    closeWatches(processTable, thread)
    withStripe(processStripe) {
        if watching.pointee.isThere && watching.pointee.farewell < 0 && !isForkedChild {
            watching.pointee.farewell = makeRaisedEvent(in: processTable.pointee.set)
        }
    }
    lookAgain()
}

/// Makes the set readable for ever. Returns -1 without a descriptor.
private func makeRaisedEvent(in set: Int32) -> Int32 {
    let event = vow_platform_make_event()
    if event < 0 { return -1 }
    vow_platform_raise(event)
    _ = vow_platform_watch(set, event, VOW_READ)
    return event
}

/// In a forked child, under all locks: the parent shares the kernel's set, so it must not change.
func turnProcessWatchesIntoCopy() { processTable.pointee.isClosed = true }
