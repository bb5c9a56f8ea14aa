// Making promises. One piece of memory each.

import CVow

/// A promise, resolved already, that stands for "there is no memory for a promise". Shared and immortal.
nonisolated(unsafe) private(set) var promiseWithoutMemory: RecordPointer! = nil

/// A promise rejected with VOW_ECANCELLED, for a token whose own could not be made. Shared and immortal.
nonisolated(unsafe) private(set) var promiseCancelled: RecordPointer! = nil

func prepareOwnPromises(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ error: vow_value) -> RecordPointer {
        let promise = storage.bindMemory(to: Record.self, capacity: 1)
        promise.initialize(to: Record(.settled, shape: .immortal, promises: 1, producers: 1))
        promise.value = error
        promise.pointee.isObserved.set()
        storage += (MemoryLayout<Record>.stride + 15) & ~15
        return promise
    }
    promiseWithoutMemory = make(ownErrors.noMemory)
    promiseCancelled = make(ownErrors.cancelled)
}

/// A promise without a reaction; nil when there is no memory.
@inline(__always)
func makePromise(
    _ phase: Phase, _ shape: Shape = Shape(), producers: UInt64, _ thread: ThreadPointer
) -> RecordPointer? {
    guard let memory = takeMemoryHere(Shape().recordSize, thread.cell) else { return nil }
    let promise = memory.bindMemory(to: Record.self, capacity: 1)
    promise.initialize(to: Record(phase, shape: shape, promises: 1, producers: producers))
    count(thread.cell.pointee.counters.promisesMade)
    if isWatched { noteMade(promise, phase == .settled ? .value : .promise) }
    return promise
}

/// A promise (owned) that is rejected with an error (borrowed), or, without memory, with a plain cancellation.
func makeRejected(_ error: vow_value, _ thread: ThreadPointer) -> RecordPointer {
    if error.as.pointer == ownErrors.cancelled.as.pointer { return promiseCancelled }
    guard let promise = makePromise(.settled, producers: 0, thread) else { return promiseCancelled }
    writeOutcome(error.retained(), of: promise, thread)
    promise.pointee.isObserved.set()
    return promise
}

/// A promise gets its value (consumed). It is the caller's alone until the step that publishes it.
@inline(__always)
func writeOutcome(_ value: vow_value, of promise: RecordPointer, _ thread: ThreadPointer) {
    if isWatched { noteSettled(promise, value) }
    promise.value = value
    count(thread.cell.pointee.counters.promisesSettled)
}
