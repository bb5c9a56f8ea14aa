// Descriptors that are watched, each for one moment: of a loop, or of the process. Several may watch one
// descriptor; the kernel is told what all of them want together.
//
// The watches of one descriptor are a list, and the oldest ones of all descriptors a tree in the watches' own memory: a
// treap, sorted by descriptors and, from the root down, by ranks that are as good as random.

import CVow
import CVowPlatform

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
