// Descriptors that are watched, each for one moment: of a loop, or of the process. Several may watch one
// descriptor; the kernel is told what all of them want together.

import CVowPlatform

typealias WatchPointer = UnsafeMutablePointer<WatchNode>
typealias WatchTablePointer = UnsafeMutablePointer<WatchTable>

/// Its owner keeps it in place until it has been stopped or has fired. Under the lock of its table.
struct WatchNode {
    let descriptor: Int32
    /// VOW_READ, VOW_WRITE.
    let events: UInt32
    var next: WatchPointer?
    /// Nil: in no table.
    var table: WatchTablePointer?
    /// Which lock is the table's; stays when the table is gone.
    var stripe = 0
    /// Called once, without a lock, unless it is stopped before. No events: its loop was destroyed.
    let fire: (WatchPointer, UInt32, ThreadPointer) -> Void

    init(
        _ descriptor: Int32, _ events: UInt32,
        _ fire: @escaping (WatchPointer, UInt32, ThreadPointer) -> Void
    ) {
        self.descriptor = descriptor
        self.events = events
        self.fire = fire
    }
}

/// All under the lock of its stripe. The buckets follow.
struct WatchTable {
    /// Not negative once it is needed.
    var set: Int32
    let stripe: Int
    var count = 0
    /// Takes no watches, and leaves the set alone: its loop is destroyed, or the parent's.
    var isClosed = false

    static let buckets = 64
    static var size: Int {
        (MemoryLayout<WatchTable>.stride + buckets * MemoryLayout<WatchPointer?>.stride + 15) & ~15
    }
}

func makeWatchTable(in memory: UnsafeMutableRawPointer, set: Int32, stripe: Int)
    -> WatchTablePointer
{
    let table = memory.bindMemory(to: WatchTable.self, capacity: 1)
    table.initialize(to: WatchTable(set: set, stripe: stripe))
    for bucket in 0..<WatchTable.buckets {
        table.bucket(of: Int32(bucket)).initialize(to: nil)
    }
    return table
}

extension WatchTablePointer {
    /// Newest first.
    fileprivate func bucket(of descriptor: Int32) -> UnsafeMutablePointer<WatchPointer?> {
        let index = Int(descriptor) % WatchTable.buckets
        return (UnsafeMutableRawPointer(self) + MemoryLayout<WatchTable>.stride)
            .assumingMemoryBound(to: WatchPointer?.self) + index
    }

    /// What all together want of a descriptor.
    private func wanted(_ descriptor: Int32) -> UInt32 {
        var events: UInt32 = 0
        var current = bucket(of: descriptor).pointee
        while let watch = current {
            if watch.pointee.descriptor == descriptor { events |= watch.pointee.events }
            current = watch.pointee.next
        }
        return events
    }

    /// 0, or an errno.
    func add(_ watch: WatchPointer) -> Int32 {
        let descriptor = watch.pointee.descriptor
        let before = wanted(descriptor)
        let events = before | watch.pointee.events
        let failure =
            before == 0
            ? vow_platform_watch(pointee.set, descriptor, events)
            : vow_platform_change_watch(pointee.set, descriptor, events)
        if failure != 0 { return failure }
        watch.pointee.table = self
        watch.pointee.stripe = pointee.stripe
        watch.pointee.next = bucket(of: descriptor).pointee
        bucket(of: descriptor).pointee = watch
        pointee.count += 1
        return 0
    }

    /// Takes those out that want one of these events of a descriptor, oldest first.
    func take(_ descriptor: Int32, _ events: UInt32) -> WatchPointer? {
        takeOut(of: descriptor) { $0.pointee.events & events != 0 }
    }

    func remove(_ wanted: WatchPointer) {
        _ = takeOut(of: wanted.pointee.descriptor) { $0 == wanted }
    }

    /// Any one; nil: there is none.
    func takeAny() -> WatchPointer? {
        for index in 0..<WatchTable.buckets {
            if let watch = bucket(of: Int32(index)).pointee {
                remove(watch)
                return watch
            }
        }
        return nil
    }

    private func takeOut(
        of descriptor: Int32, _ isWanted: (WatchPointer) -> Bool
    ) -> WatchPointer? {
        var taken: WatchPointer?
        var place = bucket(of: descriptor)
        while let watch = place.pointee {
            if watch.pointee.descriptor == descriptor && isWanted(watch) {
                place.pointee = watch.pointee.next
                watch.pointee.next = taken
                watch.pointee.table = nil
                taken = watch
                pointee.count -= 1
            } else {
                place = watch.nextPlace
            }
        }
        if taken != nil && !pointee.isClosed {
            _ = vow_platform_change_watch(pointee.set, descriptor, wanted(descriptor))
        }
        return taken
    }
}

extension WatchPointer {
    fileprivate var nextPlace: UnsafeMutablePointer<WatchPointer?> {
        withUnsafeMutablePointer(to: &pointee.next) { $0 }
    }
}
