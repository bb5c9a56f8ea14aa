// Groups, the common part of vow_all, vow_all_settled, vow_any, vow_some and vow_race: one promise that observes many, in one
// piece of memory:
//
//   Record | ProducerPart | Group | an observer for each member | a mark for each member (vow_some)
//
// Every combinator that looks at promises begins with an `ObserverOwner`. Its observers call no foreign code: the settling
// thread calls `told`, or an observer is stopped, and `stopped` says that it has let go of its promise. The memory of the
// observers is the owner's until each was told or has stopped.
//
//   an observer's word, open             the observer looks at a promise; `fire` or `stopObserving` claims the word
//   an observer's word, claimed or idle  its owner alone; no thread locks it
//   a member's place in a list           that member; then the last one to let go
//
// Members are told on any thread. The decrement that finds itself the last has acquired what the other members released.
// `stage` says which thread stops the other members: the maker while it is creating (it looks at `stage` once more at its end),
// else the thread that first exchanged `decided` into it. `callBack` puts that off while an outcome is on its way on the same
// thread. Without memory for a list the members are released, and the promise is rejected with VOW_ENOMEM.

import CVow

typealias GroupPointer = UnsafeMutablePointer<Group>

/// The thread that stops the remaining members.
enum Stage {
    /// The maker, which still adds members.
    static let creating: UInt64 = 0
    /// The thread that decides: by a member, a cancellation, or the release of the last reader.
    static let created: UInt64 = 1
    static let decided: UInt64 = 2
}

struct Group: ~Copyable {
    /// The first field, by which observers find the group.
    let owner: ObserverOwner
    let stage = AtomicWord(Stage.creating)
    /// The maker has a hold, and each observer until it was told or has stopped. The last hold gives up one producer's
    /// reference and the remaining outcomes.
    let holds: AtomicWord
    /// Values still needed for the group to be fulfilled.
    let valuesLeft: AtomicWord
    /// Errors still needed for the group to be rejected.
    let errorsLeft: AtomicWord
    let count: Int
    let isMarked: Bool
    let valuesNeeded: UInt64
    let errorsNeeded: UInt64
    /// Owned, until one is handed out.
    var outcomes: Outcomes
    /// Places that vow_some has given away, and the kind of the marked outcomes that it has handed out.
    let valuesPlaced = AtomicWord(0)
    let errorsPlaced = AtomicWord(0)
    var marksHandedOut: UInt8 = 0

    fileprivate init(_ owner: ObserverOwner, _ plan: GroupPlan) {
        self.owner = owner
        count = plan.count
        isMarked = plan.isMarked
        outcomes = plan.outcomes
        holds = AtomicWord(UInt64(plan.count) + 1)
        valuesNeeded = UInt64(plan.values)
        errorsNeeded = UInt64(plan.errors)
        valuesLeft = AtomicWord(UInt64(plan.values))
        errorsLeft = AtomicWord(UInt64(plan.errors))
    }
}

/// The outcomes of a group, made beforehand, because settling must not fail.
struct Outcomes {
    var success = vow_none()
    var failure = vow_none()

    func release(_ thread: ThreadPointer) {
        success.release(thread)
        failure.release(thread)
    }
}

struct GroupPlan {
    let kind: TraceKind
    let told: (RecordPointer, RecordPointer, ThreadPointer) -> Void
    var count: Int
    var outcomes = Outcomes()
    /// The numbers of values that fulfil the group, and of errors that reject it.
    var values = 0
    var errors = 0
    var isMarked = false

    var needsEach: Bool { values == count }
}

private let groupStart =
    (MemoryLayout<Record>.size + MemoryLayout<ProducerPart>.size + 15) & ~15
private let membersStart = groupStart + (MemoryLayout<Group>.size + 15) & ~15

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Group {
    var promise: RecordPointer {
        (UnsafeMutableRawPointer(self) - groupStart).assumingMemoryBound(to: Record.self)
    }

    private var members: UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + (membersStart - groupStart)
    }

    func observer(_ index: Int) -> RecordPointer {
        (members + index * Observer.size).assumingMemoryBound(to: Record.self)
    }

    func index(of observer: RecordPointer) -> Int {
        (UnsafeMutableRawPointer(observer) - members) / Observer.size
    }

    func mark(_ index: Int) -> UnsafeMutablePointer<AtomicFlags> {
        (members + pointee.count * Observer.size).assumingMemoryBound(to: AtomicFlags.self) + index
    }

    var values: UnsafeMutablePointer<vow_value>? { pointee.outcomes.success.box?.items }

    var errors: UnsafeMutablePointer<vow_value>? {
        pointee.outcomes.failure.box?.part(ErrorPart.self).pointee.payload.box?.items
    }

    var isDecided: Bool { pointee.stage.loadRelaxed() == Stage.decided }
}

func group(of observer: RecordPointer) -> GroupPointer {
    UnsafeMutableRawPointer(observer.owner).assumingMemoryBound(to: Group.self)
}

/// The most members of a combinator.
let mostMembers = Int(Int32.max) / 8

/// Makes a group that observes nothing yet; the caller owns its promise. Returns nil without memory.
func makeGroup(_ plan: GroupPlan, _ thread: ThreadPointer) -> GroupPointer? {
    let marks = plan.isMarked ? (plan.count + 7) & ~7 : 0
    let size = membersStart + plan.count * Observer.size + marks
    let producer = ProducerPart(plan.kind, size: size, owner: groupStart, stop: stopGroup)
    guard let promise = makeProduced(producer, thread) else { return nil }
    let memory = UnsafeMutableRawPointer(promise)
    let group = (memory + groupStart).bindMemory(to: Group.self, capacity: 1)
    let owner = ObserverOwner(
        told: plan.told, stopped: memberStopped, calledBack: memberCalledBack,
        view: ObserverView(
            needsEach: plan.needsEach, isConstant: true, distance: UInt16(groupStart),
            heard: heardByGroup, observed: observedByMember))
    group.initialize(to: Group(owner, plan))
    let ownerAddress = (memory + groupStart).assumingMemoryBound(to: ObserverOwner.self)
    for index in 0..<plan.count {
        _ = initialiseObserver(at: group.observer(index), owner: ownerAddress)
        if plan.isMarked { group.mark(index).initialize(to: AtomicFlags()) }
    }
    return group
}

/// Begins to observe the members (consumed), as many as the group was made for.
func gather(
    _ members: UnsafeBufferPointer<OpaquePointer?>, in group: GroupPointer, _ thread: ThreadPointer
) {
    asOneStep(thread) {
        var index = 0
        while index < members.count && !group.isDecided {
            if let member = RecordPointer(members[index]) {
                observe(member, by: group.observer(index), thread)
            }
            index += 1
        }
        // The group is decided: the other members are not wanted.
        let unwanted = members.count - index
        while index < members.count {
            if let member = RecordPointer(members[index]) { giveUpMember(member, thread) }
            index += 1
        }
        let wasCreating = group.pointee.stage.replaceAcquireRelease(
            Stage.creating, Stage.created
        ).exchanged
        if !wasCreating { stopMembers(of: group, cancelling: true, thread) }
        letGo(of: group, unwanted + 1, thread)
    }
}

/// Cancels a member (consumed) that is not needed, unless it has another reader. Its rejection counts as observed.
func giveUpMember(_ member: RecordPointer, _ thread: ThreadPointer) {
    member.pointee.isObserved.set()
    cancelUnlessRead(member, ownErrors.cancelled, thread)
}

/// Called from `told`: settles the group with a value (consumed), unless it is decided, and gives up the member's hold.
func decide(
    _ group: GroupPointer, _ value: vow_value, by observer: RecordPointer, _ thread: ThreadPointer
) {
    let before = group.pointee.stage.exchangeAcquireRelease(Stage.decided)
    if before == Stage.decided
        || !settle(group.promise, from: .open, value, .lent, thread)
    {
        value.release(thread)
    }
    if before == Stage.created {
        callBack(observer, thread)
    } else {
        letGo(of: group, 1, thread)
    }
}

/// A member has decided: the others are stopped, and cancelled if they have no other reader.
private func memberCalledBack(_ observer: RecordPointer, _ thread: ThreadPointer) {
    let group = group(of: observer)
    stopMembers(of: group, cancelling: true, thread)
    letGo(of: group, 1, thread)
}

private func heardByGroup(_ owner: UnsafeMutablePointer<ObserverOwner>) -> Int {
    let group = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Group.self)
    let valuesLeft = group.pointee.valuesLeft.loadAcquire()
    let errorsLeft = group.pointee.errorsLeft.loadAcquire()
    let values = group.pointee.valuesNeeded - valuesLeft
    let errors = group.pointee.errorsNeeded - errorsLeft
    // A deciding member has counted itself already, but its outcome has not been heard of.
    let decides = values > 0 && valuesLeft == 0 || errors > 0 && errorsLeft == 0
    return Int(values + errors) - (decides ? 1 : 0)
}

/// A member's outcome has not decided. A wait may now wait for the other members alone, and have no end.
func goOnWithoutMember(of group: GroupPointer, _ thread: ThreadPointer) {
    nudgeWaitingThreads(past: bit(of: group.promise))
    letGo(of: group, 1, thread)
}

private func observedByMember(
    _ owner: UnsafeMutablePointer<ObserverOwner>, _ index: Int
) -> Observed {
    let group = UnsafeMutableRawPointer(owner).assumingMemoryBound(to: Group.self)
    return index < group.pointee.count ? group.observer(index).observed : .noMore
}

private func memberStopped(_ observer: RecordPointer, _ thread: ThreadPointer) {
    letGo(of: group(of: observer), 1, thread)
}

/// The combined promise was cancelled, or its last reader has gone.
private func stopGroup(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let group = (UnsafeMutableRawPointer(promise) + groupStart).assumingMemoryBound(to: Group.self)
    if group.pointee.stage.exchangeAcquireRelease(Stage.decided) == Stage.decided { return }
    // A cancelled promise is settled here; a promise without readers is not.
    let isCancelled = promise.isCancelled
    stopMembers(of: group, cancelling: isCancelled, thread)
}

private func stopMembers(of group: GroupPointer, cancelling: Bool, _ thread: ThreadPointer) {
    for index in 0..<group.pointee.count {
        stopObserving(group.observer(index), cancelling: cancelling, thread)
    }
}

/// Gives holds up. The last hold releases everything that the group owns.
func letGo(of group: GroupPointer, _ holds: Int, _ thread: ThreadPointer) {
    if group.pointee.holds.subtractAcquireRelease(UInt64(holds)) != UInt64(holds) { return }
    if group.pointee.isMarked { releaseMarked(group, thread) }
    group.pointee.outcomes.release(thread)
    group.promise.releaseProducer(thread)
}

// MARK: The outcomes of combined promises

/// Makes an error VOW_EAGGREGATE with an empty list.
func makeAggregate(count: Int, _ message: StaticString, _ thread: ThreadPointer) -> vow_value? {
    guard let list = makeEmptyList(count: count) else { return nil }
    let error = message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
            makeOwnError(VOW_EAGGREGATE, $0.baseAddress, payload: list)
        }
    }
    if error == nil { list.release(thread) }
    return error
}

func handOut(_ kept: inout vow_value) -> vow_value {
    let value = kept
    kept = vow_none()
    return value
}

/// The error (owned) of a combined promise whose member at `index` has failed with `error` (borrowed).
func memberError(_ error: vow_value, at index: Int) -> vow_value {
    makeErrorCopy(of: error, index: Int64(index)) ?? error.retained()
}

/// Writes a member's index into its error in a group's list.
func label(_ error: inout vow_value, at index: Int, _ thread: ThreadPointer) {
    let labelled = memberError(error, at: index)
    error.release(thread)
    error = labelled
}

/// Called from `told`: a member's error (borrowed) rejects its group.
func rejectGroup(
    with error: vow_value, from observer: RecordPointer, _ thread: ThreadPointer
) {
    let group = group(of: observer)
    if group.isDecided {
        letGo(of: group, 1, thread)
    } else {
        decide(group, memberError(error, at: group.index(of: observer)), by: observer, thread)
    }
}

/// Makes a group of members (consumed) and returns its promise. The plan's outcomes are consumed too.
func combine(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ plan: GroupPlan, _ thread: ThreadPointer
) -> RecordPointer {
    guard let group = makeGroup(plan, thread) else {
        plan.outcomes.release(thread)
        return refuseMembers(members, thread)
    }
    let promise = group.promise
    gather(members, in: group, thread)
    return promise
}

/// Releases members without memory for their combinator.
func refuseMembers(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    releaseMembers(members, thread)
    return promiseWithoutMemory
}

func releaseMembers(_ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer) {
    // All members are released before foreign code runs.
    asOneStep(thread) {
        for member in members { RecordPointer(member)?.release(thread) }
    }
}
