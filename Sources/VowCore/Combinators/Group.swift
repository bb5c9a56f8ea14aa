// What all, all_settled, any, some and race have in common: one promise that watches many, in one piece of memory:
//
//   Record | ProducerPart | Group | an observer for each member | a mark for each member (some)
//
// A combined promise settles with a list, or with an error that says which member failed. Where that cannot be made, the
// group says what becomes of the members.

import CVow

typealias GroupPointer = UnsafeMutablePointer<Group>

/// Who stops the members that are left.
enum Stage {
    /// The maker: members are still being put under observation.
    static let creating: UInt64 = 0
    /// Whoever decides: a member, a cancellation, or the last reader by leaving.
    static let created: UInt64 = 1
    /// Somebody has decided.
    static let decided: UInt64 = 2
}

struct Group: ~Copyable {
    /// Comes first: observers know the group by it.
    let owner: ObserverOwner
    let stage = AtomicWord(Stage.creating)
    /// The maker, and each observer until it was told or stopped. While there are any the group has
    /// one producer's reference and what is left of its outcomes.
    let holds: AtomicWord
    /// Values that must still come for the group to be fulfilled.
    let valuesLeft: AtomicWord
    /// Errors that must still come for it to be rejected.
    let errorsLeft: AtomicWord
    let count: Int
    let isMarked: Bool
    let valuesNeeded: UInt64
    let errorsNeeded: UInt64
    /// Owned, until one of them is handed out.
    var outcomes: Outcomes
    /// Of `some`: places that were given away, and which of the marks' values were handed out.
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

/// What a group can settle with; made beforehand, because settling must not fail.
struct Outcomes {
    /// A list of values.
    var success = vow_none()
    /// An error VOW_EAGGREGATE with a list of errors.
    var failure = vow_none()

    func release(_ thread: ThreadPointer) {
        success.release(thread)
        failure.release(thread)
    }
}

/// What a group is to be like.
struct GroupPlan {
    let kind: TraceKind
    let told: (RecordPointer, RecordPointer, ThreadPointer) -> Void
    var count: Int
    var outcomes = Outcomes()
    /// How many values fulfil it, and how many errors reject it.
    var values = 0
    var errors = 0
    var isMarked = false

    /// Every value counts.
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

    /// The list of values.
    var values: UnsafeMutablePointer<vow_value>? { pointee.outcomes.success.box?.items }

    /// The list of errors.
    var errors: UnsafeMutablePointer<vow_value>? {
        pointee.outcomes.failure.box?.part(ErrorPart.self).pointee.payload.box?.items
    }

    var isDecided: Bool { pointee.stage.loadRelaxed() == Stage.decided }
}

/// The group that an observer belongs to.
func group(of observer: RecordPointer) -> GroupPointer {
    UnsafeMutableRawPointer(observer.owner).assumingMemoryBound(to: Group.self)
}

/// How many members can be counted at all.
let mostMembers = Int(Int32.max) / 8

/// A group that watches nothing yet; its promise is the caller's. Nil without memory.
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

/// The group watches its members (consumed), as many as it was made for.
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
        // It is decided already: the rest is not wanted.
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

/// A member (consumed) is not needed: it is cancelled, unless somebody else reads it, and its
/// rejection is no news.
func giveUpMember(_ member: RecordPointer, _ thread: ThreadPointer) {
    member.pointee.isObserved.set()
    cancelUnlessRead(member, ownErrors.cancelled, thread)
}

/// From `told`: settles the group with a value (consumed), unless it is decided, and gives up the
/// member's hold.
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

/// A member has decided; those that are left are stopped, and cancelled where nobody else reads
/// them.
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
    // Who decides counts itself before: it has not been heard of then.
    let decides = values > 0 && valuesLeft == 0 || errors > 0 && errorsLeft == 0
    return Int(values + errors) - (decides ? 1 : 0)
}

/// A member was heard of and has not decided. A wait may be one for the others now, and have no end.
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

/// The combined promise was cancelled, or nobody reads it any more.
private func stopGroup(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let group = (UnsafeMutableRawPointer(promise) + groupStart).assumingMemoryBound(to: Group.self)
    if group.pointee.stage.exchangeAcquireRelease(Stage.decided) == Stage.decided { return }
    // Cancelled promises are settled by then, those that nobody reads are not.
    let isCancelled = promise.isCancelled
    stopMembers(of: group, cancelling: isCancelled, thread)
}

private func stopMembers(of group: GroupPointer, cancelling: Bool, _ thread: ThreadPointer) {
    for index in 0..<group.pointee.count {
        stopObserving(group.observer(index), cancelling: cancelling, thread)
    }
}

/// Gives holds up. The last one gives up what the group has.
func letGo(of group: GroupPointer, _ holds: Int, _ thread: ThreadPointer) {
    if group.pointee.holds.subtractAcquireRelease(UInt64(holds)) != UInt64(holds) { return }
    if group.pointee.isMarked { releaseMarked(group, thread) }
    group.pointee.outcomes.release(thread)
    group.promise.releaseProducer(thread)
}

// MARK: What combined promises settle with

/// An error VOW_EAGGREGATE with such a list.
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

/// Takes a value out of where it was kept.
func handOut(_ kept: inout vow_value) -> vow_value {
    let value = kept
    kept = vow_none()
    return value
}

/// The error (owned) of a combined promise whose member at that place has failed with an error
/// (borrowed).
func memberError(_ error: vow_value, at index: Int) -> vow_value {
    makeErrorCopy(of: error, index: Int64(index)) ?? error.retained()
}

/// Has an error of a group's list say its member's place.
func label(_ error: inout vow_value, at index: Int, _ thread: ThreadPointer) {
    let labelled = memberError(error, at: index)
    error.release(thread)
    error = labelled
}

/// From `told`: a member's error (borrowed) rejects its group.
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

/// The promise of a new group of members (consumed). What the plan holds is consumed too.
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

/// Gives members (consumed) up; there is no memory for what they were to become.
func refuseMembers(
    _ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer
) -> RecordPointer {
    releaseMembers(members, thread)
    return promiseWithoutMemory
}

func releaseMembers(_ members: UnsafeBufferPointer<OpaquePointer?>, _ thread: ThreadPointer) {
    // All of them, before foreign code hears of any.
    asOneStep(thread) {
        for member in members { RecordPointer(member)?.release(thread) }
    }
}
