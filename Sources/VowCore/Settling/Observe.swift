// Observers, by which combinators look at promises, and listeners, which hear of progress.
//
// An observer stands in a promise's queue like a reaction, but calls no foreign code, so it is told as soon as the promise
// is settled, on that thread. It lives in its owner's memory, which must stay until the observer was told or stopped.
//
// The listeners of all promises stand in a table by the promise's address. A promise that has listeners has a flag, so
// that those without never come to the table.

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

// MARK: Listeners

let listenersLock = SpinLock()

/// Under the lock. Written once, before any thread has entered.
nonisolated(unsafe) private var listeners: AddressTablePointer! = nil

/// Takes memory from the front of `storage`, which it moves on.
func prepareListeners(_ storage: inout UnsafeMutableRawPointer) {
    listeners = AddressTable.make(&storage)
}

func list(_ listener: ListenerPointer, for promise: RecordPointer) {
    let isUntended = listenersLock.withLock {
        listeners.add(listener.place, promise)
        return listeners.pointee.isUntended
    }
    if isUntended { tend(listeners, listenersLock) }
}

/// Calls body with each listener of a promise. Under the lock.
func forEachListener(of promise: RecordPointer, _ body: (ListenerPointer) -> Void) {
    var place = listeners.first(promise)
    while let current = place {
        place = current.nextLike
        body(listener(at: current))
    }
}

/// Its place is the first field.
private func listener(at place: TablePlace) -> ListenerPointer {
    UnsafeMutableRawPointer(place).assumingMemoryBound(to: Listener.self)
}

extension ListenerPointer {
    fileprivate var place: TablePlace {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: TableMember.self)
    }
}

/// A promise with listeners is freed: those that are not being told are freed too.
func closeListeners(of promise: RecordPointer, _ thread: ThreadPointer) {
    var next = unlist { listeners.removeAll(promise) }
    while let place = next {
        // Whoever had it leave meanwhile finds it in no table.
        next = listenersLock.withLock { place.pointee.next }
        close(listener(at: place), thread)
    }
}

/// A hook that takes a listener out of the table when the token is cancelled, with the handle that the listener has. The
/// hook has a hold on the listener until its context is destroyed. Nil without memory.
func makeHook(of listener: ListenerPointer, leaving token: SourcePointer) -> HookPointer? {
    let hook = makeHook(
        { context in
            guard let context else { return }
            let listener = context.assumingMemoryBound(to: Listener.self)
            let isListed = unlist {
                guard listener.pointee.promise != nil else { return false }
                listeners.remove(listener.place)
                return true
            }
            if isListed { close(listener, currentThread()) }
        }, listener,
        { context in
            guard let context else { return }
            release(context.assumingMemoryBound(to: Listener.self), currentThread())
        }, leaving: token)
    hook?.retainHandle()
    return hook
}

/// Under the lock, then without it what the table needs.
private func unlist<Result>(_ remove: () -> Result) -> Result {
    var isUntended = false
    let result = listenersLock.withLock {
        defer { isUntended = listeners.pointee.isUntended }
        return remove()
    }
    if isUntended { tend(listeners, listenersLock) }
    return result
}

/// By whoever has taken it out of the table: its delivery does not wait any more, and the hold of the table ends.
private func close(_ listener: ListenerPointer, _ thread: ThreadPointer) {
    let (delayed, hook) = listenersLock.withLock {
        defer { (listener.pointee.delayed, listener.pointee.hook) = (nil, nil) }
        return (listener.pointee.delayed, listener.pointee.hook)
    }
    if let delayed {
        _ = cancel(delayed, ownErrors.cancelled, thread)
        delayed.release(thread)
    }
    if let hook {
        _ = leave(hook, thread)
        hook.release(thread)
    }
    release(listener, thread)
}

@inline(never)
func release(_ listener: ListenerPointer, _ thread: ThreadPointer) {
    let isLast = listenersLock.withLock {
        listener.pointee.holds -= 1
        return listener.pointee.holds == 0
    }
    if !isLast { return }
    let executor = listener.pointee.executor
    if listener.pointee.destroy == nil || !endElsewhere(listener, on: executor, endListener, thread)
    {
        runForeign(thread) { endListener(listener) }
    }
}

private func endListener(_ context: UnsafeMutableRawPointer?) {
    guard let listener = context?.assumingMemoryBound(to: Listener.self) else { return }
    let thread = currentThread()
    let it = listener.pointee
    giveMemoryBack(listener, Listener.size)
    it.executor.release(thread)
    it.token?.releaseToken(thread)
    if let destroy = it.destroy {
        carrying(it.surroundings, thread) { destroy(it.context) }
    } else {
        it.surroundings.release(thread)
    }
}
