// Making promises, one piece of memory each, and making errors from others: with more details, or as plain data. Without memory
// a maker returns nil, or the shared promise that says so.

import CVow

// MARK: Promises

/// Rejected with VOW_ENOMEM. Shared and immortal.
nonisolated(unsafe) private(set) var promiseWithoutMemory: RecordPointer! = nil

/// Rejected with VOW_ECANCELLED, for a token whose own rejection could not be made. Shared and immortal.
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

/// A promise (owned) rejected with an error (borrowed), or, without memory, with a plain cancellation.
func makeRejected(_ error: vow_value, _ thread: ThreadPointer) -> RecordPointer {
    if error.as.pointer == ownErrors.cancelled.as.pointer { return promiseCancelled }
    guard let promise = makePromise(.settled, producers: 0, thread) else { return promiseCancelled }
    writeOutcome(error.retained(), of: promise, thread)
    promise.pointee.isObserved.set()
    return promise
}

/// Writes the value (consumed) of a promise, which is the caller's alone until the step that publishes it.
@inline(__always)
func writeOutcome(_ value: vow_value, of promise: RecordPointer, _ thread: ThreadPointer) {
    if isWatched { noteSettled(promise, value) }
    promise.value = value
    count(thread.cell.pointee.counters.promisesSettled)
}

// MARK: Errors made from others

/// A copy of an error (borrowed) that says more, or has another payload (consumed on success). Nil without memory.
@inline(never)
func makeErrorCopy(
    of error: vow_value, index: Int64? = nil, attempts: Int64? = nil, payload: vow_value? = nil
) -> vow_value? {
    if payload == nil, let late = error.box, late.isLate, late.alreadyMade == nil {
        let cls = late.part(LatePart.self).pointee.cls
        let copy = cls.pointee.copy(
            UnsafeMutableRawPointer(late.content), index ?? -1, attempts ?? 0)
        return copy.box?.pointee.isImmortal == false ? copy : nil
    }
    guard let original = error.box(of: VOW_ERROR) else { return nil }
    let part = original.part(ErrorPart.self).pointee
    let copy = makeError(
        domain: original.domain, code: part.code, message: original.message,
        payload: payload ?? part.payload)
    guard let mine = copy?.box?.part(ErrorPart.self) else { return nil }
    if payload == nil { part.payload.retained() }
    mine.pointee.index = index ?? part.index
    mine.pointee.attempts = attempts ?? part.attempts
    return copy
}

/// Bounds of the depth of payloads and of the number of values copied: lists can share lists without measure.
private let deepestPayload = 64
private let mostValuesCopied = 1 << 20

/// A copy of an error (borrowed) that calls no foreign code: objects and promises in payloads are left out. Nil without memory.
func makePlainError(of error: vow_value, _ thread: ThreadPointer) -> vow_value? {
    var left = mostValuesCopied
    return makePlain(error, 0, &left, thread)
}

private func makePlain(
    _ value: vow_value, _ depth: Int, _ left: inout Int, _ thread: ThreadPointer
) -> vow_value? {
    left -= 1
    if value.kind == VOW_OBJECT || value.kind == VOW_PROMISE || depth > deepestPayload || left < 0 {
        return vow_none()
    }
    if value.kind < VOW_STRING { return value }
    guard let box = value.readable else { return nil }
    switch value.kind {
    case VOW_STRING: return vow_value(VOW_STRING, box).retained()
    case VOW_LIST:
        let count = box.part(ListPart.self).pointee.count
        guard let list = makeEmptyList(count: count), let items = list.box?.items else {
            return nil
        }
        for index in 0..<count {
            guard let item = makePlain(box.items[index], depth + 1, &left, thread) else {
                list.release(thread)
                return nil
            }
            items[index] = item
        }
        return list
    default:
        let payload = box.part(ErrorPart.self).pointee.payload
        guard let plain = makePlain(payload, depth + 1, &left, thread) else { return nil }
        let copy = makeErrorCopy(of: value, payload: plain)
        if copy == nil { plain.release(thread) }
        return copy
    }
}
