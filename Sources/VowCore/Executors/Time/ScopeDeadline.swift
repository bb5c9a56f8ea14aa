// What a scope says to all that is made under it: stands in the memory of the promise of its end, which everything that is
// carried along keeps.

import CVow

/// Right behind the producer's part.
struct ScopeTerms {
    /// By the clock of who made the scope; `Int64.max`: none.
    let deadline: Int64
    /// Which clocks tell the same time: see `Clock`.
    let time: UInt64
    /// Static.
    let label: UnsafePointer<CChar>?
}

/// How long what is made here may take, not negative, by the clock of the calling thread; nil: as long as it likes. A scope
/// of a virtual clock limits nothing on other clocks, and the other way round: those moments cannot be compared.
@inline(__always)
func timeLeft(_ thread: ThreadPointer) -> Int64? {
    guard let scope = thread.pointee.scope else { return nil }
    return timeLeft(under: scope, thread)
}

@inline(never)
private func timeLeft(under scope: RecordPointer, _ thread: ThreadPointer) -> Int64? {
    let terms = scope.part(ScopeTerms.self).pointee
    if terms.deadline == Int64.max { return nil }
    return withClock(thread) { clock in
        if clock.pointee.time != terms.time { return nil }
        let now =
            clock == processClock
            ? monotonicNow() : withStripe(clock.pointee.stripe) { clock.pointee.now }
        return max(terms.deadline - now, 0)
    }
}
