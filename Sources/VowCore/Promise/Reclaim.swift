// Freeing without recursion: what dies goes on a list of its thread, and a loop empties the list.
// A dead object's count is nobody's any more and holds the link; an executor's count stays 0 for those who
// look for it in the directory, so its empty intake does.
//
// While members of a settled promise are being handed over nothing is freed: a destructor might wait for
// one of them.

import CVow

/// In the low bits of an address on the list; a record has none.
private let boxMark: UInt64 = 1
private let executorMark: UInt64 = 2

/// At once where nothing can be called or freed by that, which is most often the case.
@inline(never)
func reclaim(_ record: RecordPointer, _ thread: ThreadPointer) {
    if record.holdsNothing {
        freeMemory(of: record, thread)
        return
    }
    record.pointee.counts.storeRelaxed(thread.pointee.dead)
    thread.pointee.dead = UInt64(UInt(bitPattern: record))
    reclaimUnlessBusy(thread)
}

@inline(never)
func reclaim(_ box: BoxPointer, _ thread: ThreadPointer) {
    box.pointee.count.storeRelaxed(thread.pointee.dead)
    thread.pointee.dead = UInt64(UInt(bitPattern: box)) | boxMark
    reclaimUnlessBusy(thread)
}

func reclaim(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    executor.pointee.intake.storeRelaxed(thread.pointee.dead)
    thread.pointee.dead = UInt64(UInt(bitPattern: executor)) | executorMark
    reclaimUnlessBusy(thread)
}

@inline(__always)
func reclaimUnlessBusy(_ thread: ThreadPointer) {
    if !thread.pointee.isReclaiming && !thread.pointee.isHandingOver { reclaimAll(thread) }
}

/// Frees what is on the list and what dies by that. Also nested, from a wait inside a destructor.
@inline(never)
func reclaimAll(_ thread: ThreadPointer) {
    let outer = thread.pointee.isReclaiming
    thread.pointee.isReclaiming = true
    while true {
        if thread.pointee.dead == 0 {
            if thread.pointee.newestHook == nil { break }
            runHooks(thread)
            continue
        }
        let dead = thread.pointee.dead
        let address = UInt(dead & ~(boxMark | executorMark))
        if dead & boxMark != 0, let box = BoxPointer(bitPattern: address) {
            thread.pointee.dead = box.pointee.count.loadRelaxed()
            freeBox(box, thread)
        } else if dead & executorMark != 0, let executor = ExecutorPointer(bitPattern: address) {
            thread.pointee.dead = executor.pointee.intake.loadRelaxed()
            freeExecutor(executor, thread)
        } else if let record = RecordPointer(bitPattern: address) {
            thread.pointee.dead = record.pointee.counts.loadRelaxed()
            freeRecord(record, thread)
        }
    }
    thread.pointee.isReclaiming = outer
}

@inline(__always)
private func freeRecord(_ record: RecordPointer, _ thread: ThreadPointer) {
    let phase = record.pointee.state.read().phase
    if phase == .settled {
        let value = record.value
        if value.isError && !record.pointee.isObserved.isSet && !value.isCancellation {
            reportUnhandled(record, thread)
        }
        value.release(thread)
    } else {
        if phase == .following { record.upstream?.release(thread) }
        if phase == .cancelled { (record.errorToCome ?? record.errorToRead)?.release(thread) }
        count(thread.cell.pointee.counters.promisesFreedPending)
    }
    if record.pointee.flags.contains(RecordFlag.hasListeners) { closeListeners(of: record, thread) }
    if record.pointee.shape.isTravelling {
        leaveToken(record, thread)
        record.travel.pointee.registration.source?.releaseToken(thread)
        record.travel.pointee.context.release(thread)
        record.travel.pointee.scope?.releaseProducer(thread)
    }
    freeMemory(of: record, thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Settled with a value that is no object, outside of any house, without a token, a context or listeners.
    @inline(__always)
    fileprivate var holdsNothing: Bool {
        pointee.state.read().bits == Phase.settled.bits && value.kind < VOW_STRING
            && !pointee.shape.isTravelling
            && !pointee.flags.contains(RecordFlag.isHoused | RecordFlag.hasListeners)
    }
}

private func freeMemory(of record: RecordPointer, _ thread: ThreadPointer) {
    if isWatched { noteFreed(record) }
    count(thread.cell.pointee.counters.promisesFreed)
    #if VOW_CHECKED
        record.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(of: record, thread.cell)
}

private func freeBox(_ box: BoxPointer, _ thread: ThreadPointer) {
    switch box.pointee.kind {
    case _ where box.isLate:
        let cls = box.part(LatePart.self).pointee.cls
        runForeign(thread) { cls.pointee.destroy(UnsafeMutableRawPointer(box.content)) }
        if let made = box.alreadyMade { vow_value(box.pointee.kind, made).release(thread) }
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
