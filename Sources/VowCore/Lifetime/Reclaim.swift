// Freeing without recursion: what dies goes on a list of its thread, and a loop empties the list.
//
// While members of a settled promise are being handed over nothing is freed: a destructor might wait for
// one of them.

import CVow

/// At once where nothing can be called by that, which is most often the case. The box that it held goes on the list.
@inline(never)
func reclaim(_ record: RecordPointer, _ thread: ThreadPointer) {
    let isSettled = record.pointee.state.read().bits == Phase.settled.bits
    if isSettled && record.value.kind < VOW_STRING && record.isBareLink && !isWatched {
        // The usual link of a chain.
        freeBareLink(record, thread)
    } else if !isSettled || !record.holdsOnlyContent {
        pushDead(record, thread)
        drainDeadUnlessBusy(thread)
    } else if record.value.kind < VOW_STRING {
        freeMemory(of: record, thread)
    } else {
        freeWithBox(record, thread)
    }
}

@inline(__always)
private func freeBareLink(_ link: RecordPointer, _ thread: ThreadPointer) {
    count(thread.cell.pointee.counters.promisesFreed)
    #if VOW_CHECKED
        link.pointee.seal = Seal.freed
    #endif
    giveMemoryBackHere(link, Shape.link.recordSize, thread.cell)
}

@inline(never)
private func freeWithBox(_ record: RecordPointer, _ thread: ThreadPointer) {
    let value = record.value
    freeMemory(of: record, thread)
    value.release(thread)
}

@inline(never)
func reclaim(_ box: BoxPointer, _ thread: ThreadPointer) {
    pushDead(box, thread)
    drainDeadUnlessBusy(thread)
}

func reclaim(_ executor: ExecutorPointer, _ thread: ThreadPointer) {
    pushDead(executor, thread)
    drainDeadUnlessBusy(thread)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// A settled promise's value is no error, and it has no token, context or listeners.
    @inline(__always)
    fileprivate var holdsOnlyContent: Bool {
        value.kind < VOW_ERROR && !pointee.shape.isTravelling
            && !pointee.flags.contains(RecordFlag.hasListeners)
    }
}

func freeMemory(of record: RecordPointer, _ thread: ThreadPointer) {
    if isWatched { noteFreed(record) }
    count(thread.cell.pointee.counters.promisesFreed)
    #if VOW_CHECKED
        record.pointee.seal = Seal.freed
    #endif
    giveMemoryBackHere(record, record.recordSize, thread.cell)
}
