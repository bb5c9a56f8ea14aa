// The objects that a thread is to free: a list through their own memory.
//
// A dead object's count is nobody's any more and holds the link; an executor's count stays 0 for those who
// look for it in the directory, so its empty intake does.

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

/// Takes the first one out, and says what it is. False: there is none.
@inline(__always)
func popDead(
    _ thread: ThreadPointer, box: (BoxPointer) -> Void, executor: (ExecutorPointer) -> Void,
    record: (RecordPointer) -> Void
) -> Bool {
    let dead = thread.pointee.agenda.dead
    if dead == 0 { return false }
    let address = UInt(dead & ~(boxMark | executorMark))
    if dead & boxMark != 0, let it = BoxPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.count.loadRelaxed()
        box(it)
    } else if dead & executorMark != 0, let it = ExecutorPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.intake.loadRelaxed()
        executor(it)
    } else if let it = RecordPointer(bitPattern: address) {
        thread.pointee.agenda.dead = it.pointee.counts.loadRelaxed()
        record(it)
    }
    return true
}
