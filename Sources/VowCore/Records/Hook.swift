// A function to be called on cancellation: what a producer has asked for, or what was given to a token. Whoever has its
// handle may have it leave.

import CVow

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
