// A table that finds members by an address: lists in about as many buckets as there are members, by linear hashing (Litwin,
// 1980). Listeners stand in one, under `listenersLock`; the serial executors on queues of the program in another, under the
// directory's lock. Adding a member splits a bucket or two, removing one joins two: so each locked section walks two buckets
// more at most, however large the table is. Without memory for more buckets the lists become longer.
//
// Buckets stand in segments. The first segment is there from the beginning; each other is as large as all before it. `tend`
// takes and frees segments without the lock and looks again under it: a segment that comes too late goes back, and a segment
// is freed only if no used bucket stands in it. Everything else runs under the lock of the table's owner. A forked child
// finds both tables whole.

import CVowPlatform

typealias TablePlace = UnsafeMutablePointer<TableMember>
typealias AddressTablePointer = UnsafeMutablePointer<AddressTable>

/// The first field of each member's record.
struct TableMember {
    var next: TablePlace?
    /// The word that points to this member, which so leaves in constant time.
    var link: AddressTablePointer.Bucket?
    /// Members may share a key. Nil: the member is in no table.
    var key: UnsafeRawPointer?
}

/// The addresses of the segments follow, each as if its first bucket were number 0; then the first segment.
struct AddressTable {
    var count = 0
    var bucketCount = fewest
    /// The number of buckets that there is memory for: a power of two.
    var capacity = fewest

    static let fewest = 32
    static let most = fewest << (segmentCount - 1)
    static let segmentCount = 28

    /// Takes memory from the front of `storage` and advances it.
    static func make(_ storage: inout UnsafeMutableRawPointer) -> AddressTablePointer {
        let table = storage.bindMemory(to: AddressTable.self, capacity: 1)
        table.initialize(to: AddressTable())
        storage = UnsafeMutableRawPointer(table.segments + segmentCount)
        table.segments[0] = storage
        // Static storage begins as zeroes.
        storage += fewest * MemoryLayout<TablePlace?>.stride
        return table
    }

    var isUntended: Bool { wantsMore || hasUnused }
    var wantsMore: Bool {
        count > bucketCount && bucketCount == capacity && capacity < AddressTable.most
    }
    var hasUnused: Bool { capacity > AddressTable.fewest && bucketCount <= capacity / 2 }
}

extension AddressTablePointer {
    typealias Bucket = UnsafeMutablePointer<TablePlace?>

    fileprivate var segments: UnsafeMutablePointer<UnsafeMutableRawPointer> {
        UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    }

    /// The newest member with this key.
    @inline(never)
    func first(_ key: UnsafeRawPointer) -> TablePlace? {
        bucket(home(of: key)).pointee?.orNext(with: key)
    }

    func add(_ place: TablePlace, _ key: UnsafeRawPointer) {
        let bucket = bucket(home(of: key))
        place.pointee.key = key
        place.next.join(bucket.pointee)
        bucket.join(place)
        pointee.count &+= 1
        split()
        split()
    }

    func remove(_ place: TablePlace) {
        place.pointee.link?.join(place.pointee.next)
        place.pointee = TableMember()
        pointee.count &-= 1
        join()
        join()
    }

    /// Takes out all members with this key, as a list, and returns the first one.
    @inline(never)
    func removeAll(_ key: UnsafeRawPointer) -> TablePlace? {
        var taken: TablePlace?
        while let place = first(key) {
            remove(place)
            place.pointee.next = taken
            taken = place
        }
        return taken
    }

    /// Splits the next bucket, if there are too few and memory for one more. Members keep their order.
    @inline(never)
    private func split() {
        let new = pointee.bucketCount
        if pointee.count <= new || new == pointee.capacity { return }
        pointee.bucketCount = new &+ 1
        var kept = bucket(partner(of: new))
        var moved = bucket(new)
        var place = kept.pointee
        while let current = place, let key = current.pointee.key {
            place = current.pointee.next
            if home(of: key) == new {
                moved.join(current)
                moved = current.next
            } else {
                kept.join(current)
                kept = current.next
            }
        }
        kept.pointee = nil
        moved.pointee = nil
    }

    /// Joins the last bucket with the bucket that it was split from, if there are too many.
    @inline(never)
    private func join() {
        let last = pointee.bucketCount &- 1
        if last < AddressTable.fewest || last < 2 &* pointee.count { return }
        pointee.bucketCount = last
        var end = bucket(partner(of: last))
        while let place = end.pointee { end = place.next }
        end.join(bucket(last).pointee)
    }

    @inline(never)
    private func home(of key: UnsafeRawPointer) -> Int {
        let last = pointee.bucketCount &- 1
        let mask = Int(bitPattern: UInt.max &>> UInt(last.leadingZeroBitCount))
        let number = Int(truncatingIfNeeded: hashOfAddress(key) &>> 32) & mask
        return number <= last ? number : partner(of: number)
    }

    /// The bucket that a bucket is split from: its number without the highest bit.
    private func partner(of number: Int) -> Int {
        number & Int(bitPattern: (UInt.max &>> 1) &>> UInt(number.leadingZeroBitCount))
    }

    @inline(never)
    private func bucket(_ number: Int) -> Bucket {
        segment(of: number).pointee.assumingMemoryBound(to: TablePlace?.self) + number
    }

    private func segment(of bucket: Int) -> UnsafeMutablePointer<UnsafeMutableRawPointer> {
        let few = AddressTable.fewest &- 1
        return segments + (few.leadingZeroBitCount &- (bucket | few).leadingZeroBitCount)
    }

    fileprivate var nextSize: Int { pointee.capacity &* MemoryLayout<TablePlace?>.stride }

    /// Returns false if another thread was first.
    fileprivate func take(_ memory: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        if !pointee.wantsMore || nextSize != size { return false }
        segment(of: pointee.capacity).pointee = memory - size
        pointee.capacity &*= 2
        split()
        return true
    }

    fileprivate func takeUnused() -> UnsafeMutableRawPointer? {
        if !pointee.hasUnused { return nil }
        pointee.capacity /= 2
        return segment(of: pointee.capacity).pointee + nextSize
    }
}

/// Gives the table memory, and frees unused segments, both outside of its lock: the allocator may be the program's.
@inline(never)
func tend(_ table: AddressTablePointer, _ lock: borrowing SpinLock) {
    var size = 0
    lock.withLock { if table.pointee.wantsMore { size = table.nextSize } }
    if size > 0, let memory = allocateMemory(size), !lock.withLock({ table.take(memory, size) }) {
        freeMemory(memory, size)
    }
    while let memory = lock.withLock({
        size = table.nextSize / 2
        return table.takeUnused()
    }) {
        freeMemory(memory, size)
    }
}

extension AddressTablePointer.Bucket {
    fileprivate func join(_ place: TablePlace?) {
        pointee = place
        place?.pointee.link = self
    }
}

extension TablePlace {
    /// `next` is the first field.
    fileprivate var next: AddressTablePointer.Bucket {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: TablePlace?.self)
    }

    /// The next older member with the same key.
    var nextLike: TablePlace? {
        guard let key = pointee.key else { return nil }
        return pointee.next?.orNext(with: key)
    }

    @inline(never)
    fileprivate func orNext(with key: UnsafeRawPointer) -> TablePlace? {
        var place: TablePlace? = self
        while let other = place, other.pointee.key != key { place = other.pointee.next }
        return place
    }
}

// MARK: Hashes

/// Addresses end in zeroes, so they are multiplied by the golden ratio: the high bits are good, the low ones are not.
/// packaging/gdb computes the same hash.
func hashOfAddress(_ address: UnsafeRawPointer) -> UInt64 {
    UInt64(UInt(bitPattern: address)) &* 0x9e37_79b9_7f4a_7c15
}
