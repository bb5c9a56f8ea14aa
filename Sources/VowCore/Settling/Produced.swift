// Promises that the library itself settles: the record, its `ProducerPart`, and the producer's own part, in one
// piece of memory.

import CVow

/// An open promise in memory that its maker fills behind the `ProducerPart`; the caller owns it and has one
/// producer's reference. Nil: no memory.
/// - Parameter isQuiet: cancelling it settles it only when its work has ended.
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

/// The same with a part of the producer's own right behind.
func makeProduced<Part>(
    _ kind: TraceKind, _ part: Part, isQuiet: Bool = false, _ thread: ThreadPointer,
    stop: @escaping (RecordPointer, ThreadPointer) -> Void
) -> RecordPointer? {
    let size = partStart + MemoryLayout<Part>.stride
    let producer = ProducerPart(kind, size: size, stop: stop)
    guard let promise = makeProduced(producer, isQuiet: isQuiet, thread) else { return nil }
    promise.part(Part.self).initialize(to: part)
    return promise
}

/// Settles a produced promise, unless somebody has cancelled it, with a value (consumed) that needs no count;
/// and gives the producer's reference back.
func settleProduced(_ promise: RecordPointer, _ value: vow_value, _ thread: ThreadPointer) {
    if !settle(promise, from: .open, value, .given, thread) {
        promise.releaseProducer(thread)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// For those who are told to stop: somebody does not want it any more, rather than that nobody reads it.
    var isCancelled: Bool { pointee.flags.contains(RecordFlag.cancelled) }
}

/// The work for a quiet promise has ended, with a value (consumed): it is settled, or rejected if it was cancelled, and
/// the producer's reference given back.
func settleQuiet(_ promise: RecordPointer, _ value: vow_value, _ thread: ThreadPointer) {
    if settle(promise, from: .open, value, .given, thread) { return }
    if endCancelled(promise, value, .given, thread) != .notCancelled { return }
    // In a forked child, where the work was left with the parent.
    value.release(thread)
    promise.releaseProducer(thread)
}
