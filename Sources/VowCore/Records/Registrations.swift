// The memory of what is registered to hear of a promise or of a token, beside the promise's own queue.
//
// A hook is a function to be called on cancellation: what a producer has asked for, or what was given to a token. The owner of
// its handle may have the hook leave. A source record is the memory of a cancel source, which is also that of its token, and
// has the list of what is registered with the token. A listener hears of the progress of a promise.

import CVow
import CVowPlatform

// MARK: Hooks

typealias HookPointer = UnsafeMutablePointer<Hook>
typealias HookFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Fields that change while it is listed come first, as in `SourceRecord`.
struct Hook: ~Copyable {
    /// In a token's list. In a promise's, where `next` is the one that came before; of that, `isListed` says that somebody
    /// has a handle, and is changed under the stripe of the hook. On its way to be called: `next`.
    var registration: Registration
    /// While that is listed: the promise, which lives until it is not. Afterwards: the promise that is cancelled (kept by a
    /// visit, see `endTelling`), or that nobody reads (one producer's reference).
    var promise: RecordPointer?
    /// Of who has taken it out of its list.
    var fate = Fate.destroyed
    /// The hook's surroundings stand behind it.
    let carries: Bool
    var context: UnsafeMutableRawPointer?
    let fn: HookFunction
    let destroy: Destroy?
    /// See `HookStage`.
    let stage = AtomicWord(HookStage.waiting)
    /// Whoever is to destroy the context, and the handles.
    let holds = AtomicWord(1)
    #if VOW_CHECKED
        var seal = Seal.live(.registration)
    #endif

    enum Fate: UInt8 { case destroyed, called, calledOfCancelled, calledUnlessResolved }

    init(
        _ fn: @escaping HookFunction, _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?,
        _ source: SourcePointer?, carries: Bool
    ) {
        registration = Registration(.hook, source)
        self.carries = carries
        self.fn = fn
        self.context = context
        self.destroy = destroy
    }
}

/// What becomes of a hook's function: VOW_WAITING and so on. It waits, and one step decides: to call it, of who
/// has taken it for that, or that it never will be, of who has it leave. So the two need no lock.
enum HookStage {
    static let waiting = UInt64(VOW_WAITING)
    static let running = UInt64(VOW_RUNNING)
    static let hasRun = UInt64(VOW_HAS_RUN)
    static let never = UInt64(VOW_NEVER_RUNS)
}

/// Nil without memory.
/// - Parameters:
///   - source: of one that will have a handle, and stands in a token's list: kept as memory, see `keepMemory`.
///   - surroundings: what it runs with, owned, consumed if there is memory; nil: nothing.
func makeHook(
    _ fn: @escaping HookFunction, _ context: UnsafeMutableRawPointer?, _ destroy: Destroy?,
    leaving source: SourcePointer? = nil, with surroundings: Surroundings? = nil
) -> HookPointer? {
    let carries = surroundings != nil
    guard let memory = takeMemory(Hook.size(carries: carries)) else { return nil }
    let hook = memory.bindMemory(to: Hook.self, capacity: 1)
    hook.initialize(to: Hook(fn, context, destroy, source, carries: carries))
    if let surroundings { hook.surroundings?.initialize(to: surroundings) }
    return hook
}

extension Hook {
    fileprivate static func size(carries: Bool) -> Int {
        MemoryLayout<Hook>.stride + (carries ? MemoryLayout<Surroundings>.stride : 0)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Hook {
    /// True for who is to call it. Releases nothing: the context came with the list. Acquires nothing: who left does not
    /// touch what is called.
    func begin() -> Bool {
        pointee.stage.replaceAcquire(HookStage.waiting, HookStage.running).exchanged
    }

    /// It has been called. Releases what it did, to who asks.
    func end() { pointee.stage.storeRelease(HookStage.hasRun) }

    /// It will not be called any more. True for the one who has decided so.
    func giveUp() -> Bool {
        pointee.stage.replaceAcquireRelease(HookStage.waiting, HookStage.never).exchanged
    }

    /// Nil: it carries nothing.
    var surroundings: UnsafeMutablePointer<Surroundings>? {
        if !pointee.carries { return nil }
        return UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: Surroundings.self)
    }

    var size: Int { Hook.size(carries: pointee.carries) }

    var next: HookPointer? {
        get { HookPointer(listed: pointee.registration.next) }
        nonmutating set { pointee.registration.next = newValue?.asRegistration }
    }

    var previous: HookPointer? {
        get { HookPointer(listed: pointee.registration.previous) }
        nonmutating set { pointee.registration.previous = newValue?.asRegistration }
    }

    /// It comes first.
    var asRegistration: RegistrationPointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: Registration.self)
    }

    init?(listed registration: RegistrationPointer?) {
        guard let registration else { return nil }
        self = UnsafeMutableRawPointer(registration).assumingMemoryBound(to: Hook.self)
    }
}

// MARK: Cancel sources and what is registered with them

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

// MARK: Listeners

typealias ListenerPointer = UnsafeMutablePointer<Listener>

/// Read and written under the listeners' lock, also what is constant: changing a field is an access to all of them.
struct Listener {
    /// Among the listeners, by the promise.
    var place = TableMember()
    /// The next one to be told, for who has begun its delivery; and to be hurried, for who has a hold for that.
    var nextTold: ListenerPointer?
    var nextHurried: ListenerPointer?
    /// Somebody hurries it.
    var isHurried = false
    /// The promise that is this listener's as long as it is listed, the delivery that is on its way, and the hook.
    var holds = 1
    /// A delivery is on its way or running: there is only one at a time.
    var isDelivering = false
    /// It has come to its executor, or was called back because all is done: it does not end because it cannot run.
    var hasRun = false
    /// That delivery, if it waits for its time; owned.
    var delayed: RecordPointer?
    /// Which delivery it is.
    var round: UInt32 = 0
    /// There is something that has not been told.
    var hasNews = false
    var fraction = 0.0
    /// When it was told last; nil: never.
    var toldAt: Int64?

    let interval: Int64
    let fn: vow_progress_handler
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    /// Owned.
    let executor: ExecutorPointer
    /// The context and scope of the listener's maker, owned.
    let surroundings: Surroundings
    /// Owned. Once it is cancelled nothing is told any more.
    let token: SourcePointer?
    /// A handle of the hook that takes the listener out when the token is cancelled, for as long as it is listed.
    var hook: HookPointer?

    /// The note follows: a NUL after at most so many bytes, or nothing.
    static let longestNote = 127
    static let size = MemoryLayout<Listener>.stride + longestNote + 1

    /// Borrowed; nil: it has been freed.
    var promise: RecordPointer? {
        place.key.map { UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: Record.self) }
    }

    /// That all of the work is done is told in any case; a part of it only while there is something left to do.
    var isWanted: Bool {
        guard hasNews else { return false }
        if fraction >= 1 { return true }
        guard let promise else { return false }
        return !promise.pointee.state.read().hasValue
    }

    /// How long the next call has to wait, by the clock that says what time it is. An interval ends when the clock
    /// does, as the delay that is waited for.
    func timeLeft(at now: Int64) -> Int64 {
        guard let toldAt, fraction < 1 else { return 0 }
        let (sum, overflow) = min(toldAt, now).addingReportingOverflow(interval)
        return max((overflow ? Int64.max : sum) - now, 0)
    }
}

extension UnsafeMutablePointer where Pointee == Listener {
    var note: UnsafeMutablePointer<CChar> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Listener>.stride)
            .assumingMemoryBound(to: CChar.self)
    }

    func keep(_ fraction: Double, _ text: UnsafePointer<CChar>?) {
        pointee.fraction = fraction
        pointee.hasNews = true
        var note = TextBuffer(self.note, capacity: Listener.longestNote + 1)
        if let text { note.append(text, strnlen(text, Listener.longestNote)) }
    }
}
