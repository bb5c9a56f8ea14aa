// Who waits for a promise: its members, theirs, and so on. Where that is few, a follower needs no walk up all that it waits
// for to know that it closes no ring: a chain of any length grows at its end without one.

import CVow

/// How many of them are looked at.
private var most: Int {
    #if VOW_SCHEDULES
        return 3
    #else
        return 32
    #endif
}

enum Below {
    /// Nobody of them is who was looked for.
    case other
    /// It may be one: it was seen, or not all were looked at.
    case perhaps
}

/// Whether one promise (borrowed) is among those that wait for another one (borrowed). At most so many are looked at, each
/// under its own lock, and none is once it has a value.
///
/// A member is kept by its queue, or by what it looks for, as long as the lock is held, and beyond it as one more producer
/// would keep it: it gets no reader by this. Whoever takes it out of the queue later sees that count.
func lookBelow(
    _ promise: RecordPointer, for wanted: RecordPointer, _ thread: ThreadPointer
) -> Below {
    return withUnsafeTemporaryAllocation(of: RecordPointer.self, capacity: most) { memory in
        guard var last = memory.baseAddress else { fatal("no stack for a search") }
        let first = last
        last.initialize(to: promise)
        last += 1
        var next = first
        var found: Below = promise == wanted ? .perhaps : .other
        while next < last, found == .other {
            found = lookAtMembers(of: next.pointee, for: wanted, &last, first + most)
            next += 1
        }
        next = first + 1
        while next < last {
            next.pointee.releaseProducer(thread)
            next += 1
        }
        return found
    }
}

/// Adds the members of a promise's queue to those that are still to be looked at.
private func lookAtMembers(
    of promise: RecordPointer, for wanted: RecordPointer,
    _ last: inout UnsafeMutablePointer<RecordPointer>, _ end: UnsafeMutablePointer<RecordPointer>
) -> Below {
    // Who waits for it is told, and its word is the settling thread's.
    if promise.pointee.state.read().hasValue { return .other }
    let word = promise.pointee.state.lock()
    var found = Below.other
    var member = word.hasValue ? nil : word.head
    var steps = 0
    while let current = member, found == .other {
        // Behind a thread that waits is no promise that a ring of adoptions could go through.
        if !current.pointee.shape.isWaiter {
            let waiting = current.pointee.shape.isObserver ? current.combined : current
            if let waiting {
                if waiting == wanted || last == end {
                    found = .perhaps
                } else {
                    waiting.retainProducer()
                    last.initialize(to: waiting)
                    last += 1
                }
            }
        }
        steps += 1
        if steps == 2 * most { found = .perhaps }
        member = current.next
    }
    promise.pointee.state.unlock(word.phase, word.head)
    return found
}
