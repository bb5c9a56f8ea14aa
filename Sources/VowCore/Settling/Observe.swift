// Observers: how combinators look at promises. An observer stands in a promise's queue like a
// reaction, but calls no foreign code, so it is told as soon as the promise is settled, on that
// thread.
//
// It lives in its owner's memory, which must stay until the observer was told or stopped.

import CVow

/// What every owner of observers begins with.
struct ObserverOwner {
    /// The promise (borrowed) that an observer looked at is settled. Must not call foreign code.
    let told: (_ observer: RecordPointer, _ promise: RecordPointer, ThreadPointer) -> Void
    /// A stopped observer has let go of its promise; the owner's memory is not used by it any more.
    /// Nothing foreign here either.
    let stopped: (_ observer: RecordPointer, ThreadPointer) -> Void
    /// What `callBack` asked for. Here observers may be stopped.
    let calledBack: (_ observer: RecordPointer, ThreadPointer) -> Void
    var view = ObserverView()
}

/// What its promise waits for, for those who ask whether a wait can end.
struct ObserverView {
    /// One promise that never settles keeps it pending; else all of them together.
    var needsEach = true
    /// It looks at the same promises until it is settled.
    var isConstant = false
    /// A timer settles it, whatever they do.
    var endsByItself = false
    /// How far behind the beginning of the combined promise its owner stands; 0: there is no such promise.
    var distance: UInt16 = 0
    /// How many outcomes it has heard of that have not decided. Where it needs each and is not constant, others may stand in
    /// another place since.
    var heard: (UnsafeMutablePointer<ObserverOwner>) -> Int = { _ in 0 }
    /// What it looks at in a place, from 0.
    var observed: (UnsafeMutablePointer<ObserverOwner>, Int) -> Observed = { _, _ in .noMore }
}

enum Observed {
    /// Beyond the last place.
    case noMore
    /// Nothing any more, or not yet.
    case nothing
    /// In a forked child: whoever was about to change it was left in the parent.
    case leftInStep
    /// A visit.
    case promise(RecordPointer)
    /// It ends on that executor, which may be gone.
    case executor(ExecutorPointer)
}

enum Observer {
    /// A record and its lane, aligned to 16.
    static let size = MemoryLayout<Record>.size + MemoryLayout<UInt64>.size
}

/// In memory of `Observer.size` bytes, aligned to 16. It looks at nothing yet.
func initialiseObserver(
    at memory: UnsafeMutableRawPointer, owner: UnsafeMutablePointer<ObserverOwner>
) -> RecordPointer {
    let observer = memory.bindMemory(to: Record.self, capacity: 1)
    observer.initialize(to: Record(.settled, shape: .observer, promises: 0, producers: 0))
    observer.lane = nil
    observer.pointee.counts.storeRelaxed(UInt64(UInt(bitPattern: owner)))
    return observer
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of an observer.
    var owner: UnsafeMutablePointer<ObserverOwner> {
        let address = UInt(pointee.counts.loadRelaxed())
        guard let owner = UnsafeMutablePointer<ObserverOwner>(bitPattern: address) else {
            fatal("an observer has no owner")
        }
        return owner
    }

    /// Of an observer: the promise that it is for, if there is one.
    var combined: RecordPointer? {
        let distance = owner.pointee.view.distance
        if distance == 0 { return nil }
        return (UnsafeMutableRawPointer(owner) - Int(distance)).assumingMemoryBound(to: Record.self)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of an observer: what it looks at; nothing if it is idle, or about to be. Only one that looks at something is ever
    /// locked, because its owner makes the steps from and to idle without looking for a lock.
    var observed: Observed {
        if isLeftInStep { return .leftInStep }
        guard let word = pointee.state.lock(whileIn: .open) else { return .nothing }
        let promise = upstream
        promise?.visit()
        pointee.state.unlock(.open, word.head)
        return promise.map { .promise($0) } ?? .nothing
    }

    /// Of a promise that is combined of others and pending: who looks at them.
    var observing: UnsafeMutablePointer<ObserverOwner>? {
        let isCombined = pointee.shape.isProduced && pointee.state.read().isToBeSettled
        let offset = isCombined ? Int(producer.pointee.owner) : 0
        if offset == 0 { return nil }
        return (UnsafeMutableRawPointer(self) + offset).assumingMemoryBound(to: ObserverOwner.self)
    }
}

/// Of many members, or many who wait, the newest ones: a look has a bound.
let mostLookedAt = 256

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a pending promise: whether an observer of that owner is among the newest of those who wait for it.
    func isLookedAt(by owner: UnsafeMutablePointer<ObserverOwner>) -> Bool {
        let word = pointee.state.lock()
        var member = word.hasValue ? nil : word.head
        var left = mostLookedAt
        while let current = member, left > 0 {
            if current.pointee.shape.isObserver && current.owner == owner { break }
            member = current.next
            left -= 1
        }
        pointee.state.unlock(word.phase, word.head)
        return member != nil && left > 0
    }
}

/// An idle observer looks at a promise (consumed). If that is settled it is told before this
/// returns, or, from `told`, soon afterwards. True when it stands in the promise's queue. Nobody
/// may stop it before this returns.
@discardableResult
func observe(
    _ promise: RecordPointer, by observer: RecordPointer, _ thread: ThreadPointer
) -> Bool {
    promise.pointee.isObserved.set()
    if isWatched { noteLooks(observer, at: promise, for: observer.combined) }
    observer.upstream = promise
    observer.next = nil
    observer.lane = nil
    observer.pointee.state.reopen()
    var isWaiting = true
    asOneStep(thread) {
        if promise.pointee.state.enlist(observer, while: .ofReactions) != nil {
            isWaiting = false
            thread.pointee.agenda.outcomes.append(observer)
        }
    }
    return isWaiting
}

/// From `told`, about the observer that was told, or about an idle one as part of a step: its
/// owner's `calledBack` follows, when this thread has told all others.
func callBack(_ observer: RecordPointer, _ thread: ThreadPointer) {
    observer.passage = .countedInline
    thread.pointee.agenda.leaving.append(observer)
}

/// The first follower or observer on the thread's list gets its outcome. False: there is none.
func takeOwnOutcome(_ thread: ThreadPointer) -> Bool {
    guard let member = thread.pointee.agenda.outcomes.popFirst() else { return false }
    if member.pointee.shape.isObserver {
        fire(member, thread)
    } else {
        takeOutcome(member, thread)
    }
    return true
}

/// The promise is settled: its owner is told, unless the observer was stopped.
func fire(_ observer: RecordPointer, _ thread: ThreadPointer) {
    guard observer.pointee.state.transitionToClaimed(from: .open) else {
        observer.markOut()
        return
    }
    guard let promise = observer.upstream else { fatal("an observer looks at nothing") }
    if isWatched { noteLooksAway(observer) }
    observer.pointee.state.close()
    observer.owner.pointee.told(observer, promise, thread)
    promise.release(thread)
}

/// Makes an observer let go of its promise, which is cancelled if nobody else reads it and
/// `cancelling`. False when it looks at nothing, was told, or is being told. Else the owner hears
/// that it has stopped, before foreign code runs.
///
/// Not from `told`: the observer might be the next on this thread's own list, and would be waited
/// for in vain.
@discardableResult
func stopObserving(_ observer: RecordPointer, cancelling: Bool, _ thread: ThreadPointer) -> Bool {
    guard observer.pointee.state.transitionToClaimed(from: .open) else { return false }
    _ = takeOut(observer, thread)
    observer.passage = cancelling ? .passes : []
    // A loop, not a recursion: what is given up may be a combinator's promise.
    asOneStep(thread) { thread.pointee.agenda.leaving.append(observer) }
    return true
}

/// A stopped observer gives up its promise.
func giveUpObserved(_ observer: RecordPointer, _ thread: ThreadPointer) {
    if observer.passage == .countedInline {
        observer.owner.pointee.calledBack(observer, thread)
        return
    }
    guard let promise = observer.upstream else { fatal("an observer looks at nothing") }
    let isCancelling = observer.passage.contains(.passes)
    if isWatched { noteLooksAway(observer) }
    observer.pointee.state.close()
    observer.owner.pointee.stopped(observer, thread)
    if isCancelling {
        cancelUnlessRead(promise, ownErrors.cancelled, thread)
    } else {
        promise.release(thread)
    }
}
