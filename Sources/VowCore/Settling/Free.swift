// Freeing a promise: who still hears of it.

import CVow

@inline(__always)
func freeRecord(_ record: RecordPointer, _ thread: ThreadPointer) {
    let phase = record.pointee.state.read().phase
    if phase == .settled {
        let value = record.value
        if value.isError && !record.pointee.isObserved.isSet && !value.isCancellation {
            reportUnhandled(record, thread)
        }
        value.release(thread)
    } else {
        if phase == .following {
            let error = takeErrorOfLeft(record)
            record.upstream?.giveBack(leftWith: error, thread)
            error?.release(thread)
        }
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
