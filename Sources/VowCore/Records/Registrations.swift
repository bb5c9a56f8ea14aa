// The memory of hooks, cancel sources and listeners: registrations beside a promise's own queue.
// A hook is a function called on cancellation, added by a producer to its promise, or to a token; the owner of its handle may
// have it leave. A source record is the memory of a cancel source and its token. A listener is notified of progress.

import CVow
import CVowPlatform

// MARK: Hooks

typealias HookPointer = UnsafeMutablePointer<Hook>
typealias HookFunction = @convention(c) (UnsafeMutableRawPointer?) -> Void

/// Fields that change while the hook is listed come first, as in `SourceRecord`.
struct Hook: ~Copyable {
    /// In a token's list; or in a promise's list, where `next` is the older hook, and `isListed` (under the hook's stripe) says
    /// that there is a handle. On its way to be called: `next`.
    var registration: Registration
    /// While `isListed`: the promise, which lives until then. Afterwards: the cancelled promise (a visit, see `endTelling`), or
    /// one without a reader (one producer's reference).
    var promise: RecordPointer?
    /// Written by the thread that took the hook out of its list.
    var fate = Fate.destroyed
    /// The hook's surroundings follow it.
    let carries: Bool
    var context: UnsafeMutableRawPointer?
    let fn: HookFunction
    let destroy: Destroy?
    let stage = AtomicWord(HookStage.waiting)
    /// The handles, and the thread that is to destroy the context.
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

/// VOW_WAITING and so on. A waiting hook is decided by one atomic step, without a lock: the thread with the hook on its list
/// begins the call, or a thread that has the hook leave makes it *never*.
enum HookStage {
    static let waiting = UInt64(VOW_WAITING)
    static let running = UInt64(VOW_RUNNING)
    static let hasRun = UInt64(VOW_HAS_RUN)
    static let never = UInt64(VOW_NEVER_RUNS)
}

/// Nil without memory.
/// - Parameters:
///   - source: for a hook with a handle in a token's list: kept as memory, see `keepMemory`.
///   - surroundings: owned, consumed if there is memory; nil: none.
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
    /// Returns true to the thread that is to call the hook. Releases nothing: the context came with the list. Acquires nothing:
    /// a thread that has the hook leave does not touch its context.
    func begin() -> Bool {
        pointee.stage.replaceAcquire(HookStage.waiting, HookStage.running).exchanged
    }

    /// The function has returned. Releases its effects to a thread that asks for the stage.
    func end() { pointee.stage.storeRelease(HookStage.hasRun) }

    /// The function will not be called. Returns true to the thread that decided so.
    func giveUp() -> Bool {
        pointee.stage.replaceAcquireRelease(HookStage.waiting, HookStage.never).exchanged
    }

    /// Nil: the hook has none.
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

    /// The registration is the first field.
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

// Fields written under the lock come first: to ThreadSanitizer, that touches the struct's beginning. Others are read unlocked.

struct SourceRecord: ~Copyable {
    /// Registrations, oldest first, for the order of handlers.
    var first: RegistrationPointer?
    var last: RegistrationPointer?
    /// The promise, rejected with VOW_ECANCELLED, that cancelled reactions read.
    var rejection: RecordPointer?
    var reason = vow_none()
    /// The next source that is cancelled, or ends, in the same loop. The looping thread's own.
    var nextInLine: SourcePointer?
    /// Low half: handles. High half: tokens, of reactions and linked sources, and one of all handles. See Token.swift.
    let counts = AtomicWord(1 | 1 << 32)
    let lock = SpinLock()
    /// Set under the lock.
    let isCancelled = AtomicMark()
    /// A linked source's registrations with its parents.
    var links: UnsafeMutablePointer<SourceLink>?
    var linkCount = 0
    /// All handles together, and each parent that can be cancelled itself. Once 0 it stays so.
    let cancellers = AtomicWord(1)
    /// All tokens together, and each hook with a handle. At 0 the memory is freed.
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
    /// The owner is through and must not enter any more. Entering is the last act of registering, so a reaction may be through
    /// before, on another thread, and would stay listed as long as its promise is held.
    var hasLeft = false
    let kind: RegistrationKind
    /// Counted by the owner while it lives (a hook's: as memory alone); nil: no token.
    let source: SourcePointer?

    init(_ kind: RegistrationKind, _ source: SourcePointer?) {
        self.kind = kind
        self.source = source
    }
}

/// A produced promise with a token. The registration comes first.
struct Enrolment {
    var registration: Registration
    let promise: RecordPointer
}

/// A link to one parent. The registration comes first.
struct SourceLink {
    var registration: Registration
    /// The linked source, which outlives the link.
    let child: SourcePointer
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == SourceRecord {
    /// Under the lock. Returns false if the owner has left before.
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

    /// The owner is through. May be called again.
    func leave(_ registration: RegistrationPointer) {
        pointee.lock.withLock {
            registration.pointee.hasLeft = true
            remove(registration)
        }
    }

    /// Under the lock. Returns false if it is out already.
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

/// Under the listeners' lock, constant fields too: changing one field is an access to all.
struct Listener {
    /// In the table of listeners, by the promise.
    var place = TableMember()
    /// The next to be notified, for the thread that began its delivery; the next to be hurried, for a thread with a hold.
    var nextTold: ListenerPointer?
    var nextHurried: ListenerPointer?
    var isHurried = false
    /// The table, the delivery under way and the hook have one each.
    var holds = 1
    /// A delivery is on its way or running; there is one at most.
    var isDelivering = false
    /// The delivery has reached its executor, or was called back at the end: it did not end because it could not run.
    var hasRun = false
    /// A delivery that waits for its time; owned.
    var delayed: RecordPointer?
    var round: UInt32 = 0
    var hasNews = false
    var fraction = 0.0
    /// The time of the last call; nil: none.
    var toldAt: Int64?

    let interval: Int64
    let fn: vow_progress_handler
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    /// Owned.
    let executor: ExecutorPointer
    /// The maker's, owned.
    let surroundings: Surroundings
    /// Owned. After its cancellation no call is made.
    let token: SourcePointer?
    /// A handle of the hook that takes the listener out when the token is cancelled, while it is listed.
    var hook: HookPointer?

    /// The note follows: at most so many bytes and a NUL.
    static let longestNote = 127
    static let size = MemoryLayout<Listener>.stride + longestNote + 1

    /// Borrowed; nil: the promise is freed.
    var promise: RecordPointer? {
        place.key.map { UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: Record.self) }
    }

    /// The end of all work is told in any case; a part of it only while the promise is pending.
    var isWanted: Bool {
        guard hasNews else { return false }
        if fraction >= 1 { return true }
        guard let promise else { return false }
        return !promise.pointee.state.read().hasValue
    }

    /// How long the next call has to wait, by the clock that gave `now`. An interval ends at the clock's end, as a delay does.
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
