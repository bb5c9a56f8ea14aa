// Watching descriptors, each for one moment: on a loop's thread in the loop's set, elsewhere in the process's.
//
// Several watches may be of one descriptor; the kernel is told what all of them want together. The watches of one descriptor
// are a list, and the oldest ones of all descriptors a tree in the watches' own memory: a treap, sorted by descriptors and,
// from the root down, by ranks that are as good as random.
//
// At the set of the process looks a thread of our own, the watcher: it calls a worker when something in the set is ready; then
// it rests until that worker has taken what there is. What is told that its descriptor is ready may be slow, or wait for
// another descriptor: after a moment's patience, for which a timer stands, the watcher looks again.

import CVow
import CVowPlatform

enum WatchStart {
    case started
    /// Nothing to watch: it is always ready.
    case always
    case refused, noMemory
}

/// It may fire before this returns. The descriptor is open.
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

/// Returns how many.
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
    /// Fires those whose descriptors were closed, where nothing else shows it. Returns how many.
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

/// True: it will never fire, and the kernel has forgotten it. False: it has fired, or is about to.
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

/// Fires what is ready in a table, up to 64 descriptors. Returns how many fired. All settle before foreign code
/// runs, which might read what others were told is there, or wait for one of them.
/// - Parameter allAreSettled: called then.
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

/// The loop is destroyed.
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

/// Its owner keeps it in place until it has been stopped or has fired. Under the lock of its table.
struct WatchNode {
    let descriptor: Int32
    /// VOW_READ, VOW_WRITE.
    let events: UInt32
    /// The next newer one of its descriptor; of those that have been taken: the next one.
    var next: WatchPointer?
    /// Nil: in no table.
    var table: WatchTablePointer?
    /// Which lock is the table's; stays when the table is gone.
    var stripe = 0
    /// Called once, without a lock, unless it is stopped before. No events: its loop was destroyed. `isLost`: the
    /// program has closed the descriptor.
    fileprivate(set) var isLost = false
    let fire: (WatchPointer, UInt32, ThreadPointer) -> Void
    /// The one before; of the oldest: the newest.
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

/// Of the oldest watch of a descriptor.
private struct TreePlace {
    var left: WatchPointer?
    var right: WatchPointer?
    /// How many want the one and the other.
    var readers = 0
    var writers = 0

    var wanted: UInt32 { (readers > 0 ? VOW_READ : 0) | (writers > 0 ? VOW_WRITE : 0) }

    mutating func count(_ events: UInt32, _ step: Int) {
        if events & VOW_READ != 0 { readers += step }
        if events & VOW_WRITE != 0 { writers += step }
    }
}

/// All under the lock of its stripe.
struct WatchTable {
    /// Not negative once it is needed.
    var set: Int32
    let stripe: Int
    var count = 0
    /// Takes no watches, and leaves the set alone: its loop is destroyed, or the parent's.
    var isClosed = false
    fileprivate var root: WatchPointer?
    /// Taken out because their descriptors were closed; to be fired.
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

/// Where a pointer to a watch stands.
private typealias Link = UnsafeMutablePointer<WatchPointer?>

extension WatchTablePointer {
    /// 0, or an errno.
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

    /// Takes those out that want one of these events of a descriptor, oldest first.
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

    /// Any one; nil: there is none.
    func takeAny() -> WatchPointer? {
        let any = pointee.root
        if let any { remove(any) }
        return any
    }

    /// The kernel forgets a descriptor that is closed; another one may have its number. Who watches it then is lost.
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

    /// The caller fires them.
    func takeLost() -> WatchPointer? {
        let lost = pointee.lost
        if lost != nil { pointee.lost = nil }
        return lost
    }

    #if VOW_CHECKED
        /// Asks the kernel for every descriptor.
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

    /// Takes a watch out of the list to whose oldest one this links. Returns what the others want.
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

    /// What links to the oldest watch of a descriptor; without one, to nothing.
    private func link(to descriptor: Int32) -> Link {
        var link = rootLink
        while let other = link.pointee, other.pointee.descriptor != descriptor {
            link = descriptor < other.pointee.descriptor ? other.left : other.right
        }
        return link
    }

    /// The first watch of its descriptor.
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

    /// The last watch of its descriptor.
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

    /// Different ones for different descriptors.
    fileprivate var rank: UInt32 {
        var bits = UInt32(bitPattern: pointee.descriptor)
        bits = (bits ^ bits >> 16) &* 0x7feb_352d
        bits = (bits ^ bits >> 15) &* 0x846c_a68b
        return bits ^ bits >> 16
    }
}

// MARK: The set of the process

/// Written once, before any thread has entered. Its set is made with the first watch.
nonisolated(unsafe) private(set) var processTable: WatchTablePointer! = nil

/// All under the table's lock, which is the clock's, too.
private struct Watching {
    let patience: TimerPointer
    /// It is in the clock, or about to fire.
    var isPatient = false
    /// The watcher was made.
    var isThere = false
    /// What wakes it when it is to end; -1: nothing.
    var farewell: Int32 = -1
}

nonisolated(unsafe) private var watching: UnsafeMutablePointer<Watching>! = nil

/// What the watcher rests on.
private let watcherWord = AtomicWord(Parking.awake)

/// Takes memory from the front of `storage`, which it moves on.
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

/// Under the table's lock, when there is a keeper. False: no memory, no descriptors, or no thread.
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
    /// Nil: it is closed.
    fileprivate var openSet: Int32? { isClosed ? nil : set }
}

private func lookAgain() { unparkToLook(watcherWord, at: watcherWord.address) }

/// Something is ready.
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

/// Under the lock, before foreign code.
private func bePatient() {
    if watching.pointee.isPatient || processClock.pointee.isClosed { return }
    watching.pointee.isPatient = true
    watching.pointee.patience.pointee.clock = processClock
    processClock.pointee.add(watching.pointee.patience, at: monotonicNow() + eventPatience)
}

/// As a timer: calls no foreign code.
private func isOver() {
    withStripe(processStripe) { watching.pointee.isPatient = false }
    lookAgain()
}

/// The library's work in the process ends.
func closeProcessWatches(_ thread: ThreadPointer) {
    closeWatches(processTable, thread)
    withStripe(processStripe) {
        if watching.pointee.isThere && watching.pointee.farewell < 0 && !isForkedChild {
            watching.pointee.farewell = makeRaisedEvent(in: processTable.pointee.set)
        }
    }
    lookAgain()
}

/// Makes the set readable for ever. -1: there is no descriptor to be had.
private func makeRaisedEvent(in set: Int32) -> Int32 {
    let event = vow_platform_make_event()
    if event < 0 { return -1 }
    vow_platform_raise(event)
    _ = vow_platform_watch(set, event, VOW_READ)
    return event
}

/// In a forked child, under all locks: the kernel's set is the parent's, too, and must not be changed.
func turnProcessWatchesIntoCopy() { processTable.pointee.isClosed = true }
