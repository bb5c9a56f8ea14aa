// Observers, with which combinators wait for promises, and the table of listeners, which are notified of progress.
//
// An observer is a member of a promise's queue that calls no foreign code: the thread that settles the promise notifies it at
// once. The observer is in its owner's memory, which must stay until the observer was told or stopped.
//
// Listeners are in a table by the promise's address. A promise with listeners has a flag, so others never look there.

import CVow

/// Every owner of observers begins with this.
struct ObserverOwner {
    /// Notifies the owner: the observed promise (borrowed) is settled. Must not call foreign code.
    let told: (_ observer: RecordPointer, _ promise: RecordPointer, ThreadPointer) -> Void
    /// Likewise: a stopped observer has let go of its promise and uses the owner's memory no more.
    let stopped: (_ observer: RecordPointer, ThreadPointer) -> Void
    /// The answer to `callBack`. Observers may be stopped here.
    let calledBack: (_ observer: RecordPointer, ThreadPointer) -> Void
    var view = ObserverView()
}

/// The owner's observed promises, for a wait that looks ahead.
struct ObserverView {
    /// True: one observed promise that never settles keeps the owner's promise pending. False: only all of them do.
    var needsEach = true
    /// The observed promises stay the same until the owner's promise is settled.
    var isConstant = false
    /// A timer settles the owner's promise in any case.
    var endsByItself = false
    /// The owner's offset from its combined promise; 0: the owner has no such promise.
    var distance: UInt16 = 0
    /// How many outcomes have not decided. Unless the owner is constant, other promises may have their places.
    var heard: (UnsafeMutablePointer<ObserverOwner>) -> Int = { _ in 0 }
    /// The promise observed in a place, counted from 0.
    var observed: (UnsafeMutablePointer<ObserverOwner>, Int) -> Observed = { _, _ in .noMore }
}

enum Observed {
    /// The place is beyond the last one.
    case noMore
    /// The place has no promise any more, or has none yet.
    case nothing
    /// In a forked child: the thread that was changing the place is left in the parent.
    case leftInStep
    /// A visit.
    case promise(RecordPointer)
    /// The combined promise ends on that executor, which may be gone.
    case executor(ExecutorPointer)
}

enum Observer {
    /// A record and its lane, aligned to 16.
    static let size = MemoryLayout<Record>.size + MemoryLayout<UInt64>.size
}

/// Makes an idle observer in memory of `Observer.size` bytes, aligned to 16.
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
    var owner: UnsafeMutablePointer<ObserverOwner> {
        let address = UInt(pointee.counts.loadRelaxed())
        guard let owner = UnsafeMutablePointer<ObserverOwner>(bitPattern: address) else {
            fatal("an observer has no owner")
        }
        return owner
    }

    /// The combined promise that an observer is for, if there is one.
    var combined: RecordPointer? {
        let distance = owner.pointee.view.distance
        if distance == 0 { return nil }
        return (UnsafeMutableRawPointer(owner) - Int(distance)).assumingMemoryBound(to: Record.self)
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The promise that an observer looks at. An idle observer is never locked: its owner's steps wait for no lock.
    var observed: Observed {
        if isLeftInStep { return .leftInStep }
        guard let word = pointee.state.lock(whileIn: .open) else { return .nothing }
        let promise = upstream
        promise?.visit()
        pointee.state.unlock(.open, word.head)
        return promise.map { .promise($0) } ?? .nothing
    }

    /// The owner whose observers a pending combined promise waits for.
    var observing: UnsafeMutablePointer<ObserverOwner>? {
        let isCombined = pointee.shape.isProduced && pointee.state.read().isToBeSettled
        let offset = isCombined ? Int(producer.pointee.owner) : 0
        if offset == 0 { return nil }
        return (UnsafeMutableRawPointer(self) + offset).assumingMemoryBound(to: ObserverOwner.self)
    }
}

/// A look visits only so many of the newest members: its cost is bounded.
let mostLookedAt = 256

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// An observer of that owner is among the newest members of this pending promise.
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

/// An idle observer looks at a promise (consumed). Returns true if it is in the promise's queue. Else the promise is settled,
/// and the owner is told before this returns or, within `told`, soon after. It may be stopped only then.
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

/// Has `calledBack` called when this thread has told all other observers. From `told`, or in a step with an idle observer.
func callBack(_ observer: RecordPointer, _ thread: ThreadPointer) {
    observer.passage = .countedInline
    thread.pointee.agenda.leaving.append(observer)
}

/// Gives the first follower or observer on the thread's list its outcome. Returns false if the list is empty.
func takeOwnOutcome(_ thread: ThreadPointer) -> Bool {
    guard let member = thread.pointee.agenda.outcomes.popFirst() else { return false }
    if member.pointee.shape.isObserver {
        fire(member, thread)
    } else {
        takeOutcome(member, thread)
    }
    return true
}

/// Tells the owner that the promise is settled, unless the observer was stopped.
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

/// Makes an observer let go of its promise, which is cancelled if `cancelling` and without another reader. Returns false if the
/// observer is idle, was told, or is being told. Else the owner's `stopped` is called before foreign code runs. Must not be
/// called from `told`: the observer may be next on this thread's own list, and the wait for it would not end.
@discardableResult
func stopObserving(_ observer: RecordPointer, cancelling: Bool, _ thread: ThreadPointer) -> Bool {
    guard observer.pointee.state.transitionToClaimed(from: .open) else { return false }
    _ = takeOut(observer, thread)
    observer.passage = cancelling ? .passes : []
    // In a loop, not a recursion: the promise given up may be a combinator's.
    asOneStep(thread) { thread.pointee.agenda.leaving.append(observer) }
    return true
}

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

/// Takes memory from the front of `storage` and advances `storage`.
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

/// Calls `body` with each listener of a promise. Under the lock.
func forEachListener(of promise: RecordPointer, _ body: (ListenerPointer) -> Void) {
    var place = listeners.first(promise)
    while let current = place {
        place = current.nextLike
        body(listener(at: current))
    }
}

/// The place is a listener's first field.
private func listener(at place: TablePlace) -> ListenerPointer {
    UnsafeMutableRawPointer(place).assumingMemoryBound(to: Listener.self)
}

extension ListenerPointer {
    fileprivate var place: TablePlace {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: TableMember.self)
    }
}

/// Closes the listeners of a promise that is being freed. A delivery under way keeps its listener.
func closeListeners(of promise: RecordPointer, _ thread: ThreadPointer) {
    var next = unlist { listeners.removeAll(promise) }
    while let place = next {
        // A listener that its token took out meanwhile is in no table.
        next = listenersLock.withLock { place.pointee.next }
        close(listener(at: place), thread)
    }
}

/// Makes the hook that takes a listener out of the table when the token is cancelled; the listener has the hook's handle. The
/// hook holds the listener until its context is destroyed. Nil without memory.
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

/// Removes under the lock, and then tends the table without the lock.
private func unlist<Result>(_ remove: () -> Result) -> Result {
    var isUntended = false
    let result = listenersLock.withLock {
        defer { isUntended = listeners.pointee.isUntended }
        return remove()
    }
    if isUntended { tend(listeners, listenersLock) }
    return result
}

/// Closes a listener that the caller took out of the table: cancels its delayed delivery and ends the table's hold.
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
