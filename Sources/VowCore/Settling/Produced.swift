// Promises that the library settles: the record, its `ProducerPart` and the producer's own part, in one piece of memory.

import CVow

/// Makes an open promise (owned, with one producer's reference); the maker fills the memory behind. Nil without memory.
/// - Parameter isQuiet: a cancelled promise is settled only when its work has ended.
func makeProduced(
    _ part: ProducerPart, isQuiet: Bool = false, _ thread: ThreadPointer
) -> RecordPointer? {
    guard let memory = takeMemory(part.size) else { return nil }
    let promise = memory.bindMemory(to: Record.self, capacity: 1)
    let shape = isQuiet ? Shape.produced.union(.cooperative) : .produced
    promise.initialize(to: Record(.open, shape: shape, promises: 1, producers: 1))
    promise.producer.initialize(to: part)
    count(thread.cell.pointee.counters.promisesMade)
    if isWatched { noteMade(promise, part.kind) }
    return promise
}

/// `makeProduced` with a part of the producer's own behind.
func makeProduced<Part>(
    _ kind: TraceKind, _ part: Part, isQuiet: Bool = false, _ thread: ThreadPointer,
    stop: @escaping (RecordPointer, ThreadPointer) -> Void
) -> RecordPointer? {
    let size = SpareMemory.keptSize(for: partStart + MemoryLayout<Part>.stride)
    let producer = ProducerPart(kind, size: size, stop: stop)
    guard let promise = makeProduced(producer, isQuiet: isQuiet, thread) else { return nil }
    promise.part(Part.self).initialize(to: part)
    return promise
}

/// Settles a produced promise, unless cancelled, with an uncounted value (consumed); gives the producer's reference back.
func settleProduced(_ promise: RecordPointer, _ value: vow_value, _ thread: ThreadPointer) {
    if !settle(promise, from: .open, value, .given, thread) {
        promise.releaseProducer(thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Tells a producer that is to stop: the promise was cancelled, and did not merely lose its last reader.
    var isCancelled: Bool { pointee.flags.contains(RecordFlag.cancelled) }
}

/// Ends the work for a quiet promise with a value (consumed), or rejects it if cancelled; gives the producer's reference back.
func settleQuiet(_ promise: RecordPointer, _ value: vow_value, _ thread: ThreadPointer) {
    if settle(promise, from: .open, value, .given, thread) { return }
    if endCancelled(promise, value, .given, thread) != .notCancelled { return }
    // In a forked child, where the work was left with the parent.
    value.release(thread)
    promise.releaseProducer(thread)
}
