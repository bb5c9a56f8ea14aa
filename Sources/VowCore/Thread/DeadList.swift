// The objects that a thread is to free: a list through their own memory.
//
// A dead object's count is nobody's any more and holds the link; an executor's count stays 0 for those who
// look for it in the directory, so its empty intake does.

enum Dead {
    case record(RecordPointer)
    case box(BoxPointer)
    case executor(ExecutorPointer)
}

/// In the low bits of an address on the list; a record has none.
private let boxMark: UInt64 = 1
private let executorMark: UInt64 = 2

@inline(__always)
func pushDead(_ record: RecordPointer, _ thread: ThreadPointer) {
    record.pointee.counts.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: record))
}

@inline(__always)
func pushDead(_ box: BoxPointer, _ thread: ThreadPointer) {
    box.pointee.count.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: box)) | boxMark
}

@inline(__always)
func pushDead(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    executor.pointee.intake.storeRelaxed(thread.pointee.agenda.dead)
    thread.pointee.agenda.dead = UInt64(UInt(bitPattern: executor)) | executorMark
}

@inline(__always)
func popDead(_ thread: ThreadPointer) -> Dead? {
    let dead = thread.pointee.agenda.dead
    let address = UInt(dead & ~(boxMark | executorMark))
    if dead & boxMark != 0, let box = BoxPointer(bitPattern: address) {
        thread.pointee.agenda.dead = box.pointee.count.loadRelaxed()
        return .box(box)
    }
    if dead & executorMark != 0, let executor = ExecutorPointer(bitPattern: address) {
        thread.pointee.agenda.dead = executor.pointee.intake.loadRelaxed()
        return .executor(executor)
    }
    guard let record = RecordPointer(bitPattern: address) else { return nil }
    thread.pointee.agenda.dead = record.pointee.counts.loadRelaxed()
    return .record(record)
}
