// The memory of a cancel source, which is also that of its token, and of what is registered with it.

import CVow

typealias SourcePointer = UnsafeMutablePointer<SourceRecord>
typealias RegistrationPointer = UnsafeMutablePointer<Registration>

// Fields that change under the lock come first: to ThreadSanitizer, changing one is an access to the beginning of
// the struct, and the others are read without the lock.

struct SourceRecord: ~Copyable {
    /// What is registered, oldest first, for the order of handlers.
    var first: RegistrationPointer?
    var last: RegistrationPointer?
    /// A promise that is rejected with VOW_ECANCELLED: what cancelled reactions read.
    var rejection: RecordPointer?
    var reason = vow_none()
    /// While a cancellation goes through linked sources, or several die together: the next one. Of who does that.
    var nextInLine: SourcePointer?
    /// Low half: sources. High half: tokens, which reactions and linked sources have, too, and one for all sources
    /// together. Once that is 0 it stays so.
    let counts = AtomicWord(1 | 1 << 32)
    let lock = SpinLock()
    /// Set under the lock.
    let isCancelled = AtomicMark()
    /// Of a linked source: its registrations with other ones.
    var links: UnsafeMutablePointer<SourceLink>?
    var linkCount = 0
    /// Who could cancel it: all sources together, and each parent that can be cancelled itself. Once 0 it stays so.
    let cancellers = AtomicWord(1)
    /// Who needs the memory: all tokens together, and each hook that somebody has, or had, a handle of.
    let keepers = AtomicWord(1)
    #if VOW_CHECKED
        var seal = Seal.live(.source)
    #endif
}

enum RegistrationKind: UInt8 {
    /// In the `TravelPart` of a reaction.
    case reaction
    /// In a `Hook`.
    case hook
    /// In a `SourceLink`.
    case link
    /// In an `Enrolment`.
    case produced
}

struct Registration {
    var next: RegistrationPointer?
    var previous: RegistrationPointer?
    var isListed = false
    /// The owner is through, and must not enter any more: a reaction may be, on another thread, before it could enter, and
    /// would then be listed for as long as somebody holds its promise.
    var hasLeft = false
    let kind: RegistrationKind
    /// Counted by the owner for as long as it lives (of a hook, as memory alone); nil: no token.
    let source: SourcePointer?

    init(_ kind: RegistrationKind, _ source: SourcePointer?) {
        self.kind = kind
        self.source = source
    }
}

/// A promise of the library's own making that is cancelled. The registration comes first.
struct Enrolment {
    var registration: Registration
    let promise: RecordPointer
}

/// A source that is cancelled together with another one. The registration comes first.
struct SourceLink {
    var registration: Registration
    /// The source it belongs to, which outlives it.
    let child: SourcePointer
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == SourceRecord {
    /// Under the lock. False when the owner has left before.
    @discardableResult
    func enter(_ registration: RegistrationPointer) -> Bool {
        if registration.pointee.hasLeft { return false }
        registration.pointee.isListed = true
        let last = pointee.last
        registration.pointee.previous = last
        registration.pointee.next = nil
        if let last { last.pointee.next = registration } else { pointee.first = registration }
        pointee.last = registration
        return true
    }

    /// The owner is through, however often it says so.
    func leave(_ registration: RegistrationPointer) {
        pointee.lock.withLock {
            registration.pointee.hasLeft = true
            remove(registration)
        }
    }

    /// Under the lock. False when it has been taken out already.
    @discardableResult
    func remove(_ registration: RegistrationPointer) -> Bool {
        if !registration.pointee.isListed { return false }
        registration.pointee.isListed = false
        let next = registration.pointee.next
        let previous = registration.pointee.previous
        if let next { next.pointee.previous = previous } else { pointee.last = previous }
        if let previous { previous.pointee.next = next } else { pointee.first = next }
        return true
    }
}
