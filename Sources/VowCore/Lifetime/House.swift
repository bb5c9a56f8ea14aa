// Records in somebody else's memory: the Swift face puts its promises into the objects that it counts them with.

/// Gives memory for a record, aligned to 16. It is the record's until that leaves.
typealias House = (_ size: Int) -> UnsafeMutableRawPointer

/// Takes the memory back. Set once, before the first record enters a house.
nonisolated(unsafe) private var takeHouseBack: (UnsafeMutableRawPointer) -> Void = { _ in
    fatal("a record leaves a house that nobody has")
}

func setHouses(takeBack: @escaping (UnsafeMutableRawPointer) -> Void) { takeHouseBack = takeBack }

/// For a link: one that was given the thread would have the compiler copy the whole reaction first.
@inline(__always)
func takeMemory(_ size: Int, in house: House?) -> UnsafeMutableRawPointer? {
    guard let house else { return takeMemoryHere(size, threadCell()) }
    count(threadCell().pointee.counters.bytesTaken, size)
    return house(size)
}

@inline(__always)
func takeMemory(_ size: Int, in house: House?, _ thread: ThreadPointer)
    -> UnsafeMutableRawPointer?
{
    guard let house else { return takeMemoryHere(size, thread.cell) }
    count(thread.cell.pointee.counters.bytesTaken, size)
    return house(size)
}

/// The memory of a record that is no more.
@inline(__always)
func giveMemoryBack(of record: RecordPointer, _ cell: CellPointer) {
    let size = record.recordSize
    if !record.pointee.flags.contains(RecordFlag.isHoused) {
        giveMemoryBackHere(record, size, cell)
        return
    }
    let carried = record.pointee.shape.contains(.link) ? CarriedContext.size : 0
    count(cell.pointee.counters.bytesFreed, size + carried)
    takeHouseBack(record)
}
