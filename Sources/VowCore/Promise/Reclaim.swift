// Freeing without recursion: what dies goes on a list of its thread, and a loop empties the list.
// A dead object's count is nobody's any more and holds the link.

import CVow

private let boxMark: UInt64 = 1

func reclaim(_ record: RecordPointer, _ thread: ThreadPointer) {
    record.pointee.counts.storeRelaxed(thread.pointee.dead)
    thread.pointee.dead = UInt64(UInt(bitPattern: record))
    if !thread.pointee.isReclaiming { reclaimAll(thread) }
}

func reclaim(_ box: BoxPointer, _ thread: ThreadPointer) {
    box.pointee.count.storeRelaxed(thread.pointee.dead)
    thread.pointee.dead = UInt64(UInt(bitPattern: box)) | boxMark
    if !thread.pointee.isReclaiming { reclaimAll(thread) }
}

@inline(__always)
private func reclaimAll(_ thread: ThreadPointer) {
    thread.pointee.isReclaiming = true
    while thread.pointee.dead != 0 {
        let dead = thread.pointee.dead
        if dead & boxMark == 0, let record = RecordPointer(bitPattern: UInt(dead)) {
            thread.pointee.dead = record.pointee.counts.loadRelaxed()
            free(record, thread)
        } else if let box = BoxPointer(bitPattern: UInt(dead & ~boxMark)) {
            thread.pointee.dead = box.pointee.count.loadRelaxed()
            free(box, thread)
        }
    }
    thread.pointee.isReclaiming = false
}

@inline(__always)
private func free(_ record: RecordPointer, _ thread: ThreadPointer) {
    if record.pointee.state.read().phase == .settled {
        let value = record.value
        if value.isError && !record.pointee.isObserved.isSet { reportUnhandled(record, thread) }
        value.release(thread)
    } else {
        count(thread.pointee.cell.counters.promisesFreedPending)
    }
    count(thread.pointee.cell.counters.promisesFreed)
    #if VOW_CHECKED
        record.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(record, record.pointee.shape.recordSize)
}

private func free(_ box: BoxPointer, _ thread: ThreadPointer) {
    switch box.pointee.kind {
    case VOW_OBJECT:
        let object = box.part(ObjectPart.self).pointee
        if let lender = object.lender {
            lender.release(thread)
        } else if let destroy = object.cls?.pointee.destroy {
            runForeign(thread) { destroy(object.pointer) }
        }
    case VOW_LIST:
        for index in 0..<box.part(ListPart.self).pointee.count { box.items[index].release(thread) }
    case VOW_ERROR:
        box.part(ErrorPart.self).pointee.payload.release(thread)
    default:
        break
    }
    #if VOW_CHECKED
        box.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(box, box.size)
}
