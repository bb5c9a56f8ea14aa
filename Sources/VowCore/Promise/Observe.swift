// Observers: how combinators look at promises. An observer stands in a promise's queue like a reaction, but calls
// no foreign code, so it is told as soon as the promise is settled, on that thread.
//
// It lives in its owner's memory, which must stay until the observer was told or stopped.

import CVow

/// What every owner of observers begins with.
struct ObserverOwner {
    /// The promise (borrowed) that an observer looked at is settled. Must not call foreign code.
    let told: (_ observer: RecordPointer, _ promise: RecordPointer, ThreadPointer) -> Void
    /// A stopped observer has let go of its promise; the owner's memory is not used by it any more. Nothing
    /// foreign here either.
    let stopped: (_ observer: RecordPointer, ThreadPointer) -> Void
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
}

/// An idle observer looks at a promise (consumed). If that is settled it is told before this returns.
func observe(_ promise: RecordPointer, by observer: RecordPointer, _ thread: ThreadPointer) {
    promise.pointee.isObserved.set()
    observer.upstream = promise
    observer.pointee.state.reopen()
    asOneStep(thread) {
        if promise.pointee.state.enlist(observer, while: .ofReactions) != nil {
            thread.pointee.outcomes.append(observer)
        }
    }
}

/// The promise is settled: its owner is told, unless the observer was stopped.
func fire(_ observer: RecordPointer, _ thread: ThreadPointer) {
    var pause = Backoff()
    while !observer.pointee.state.transitionToClaimed(from: .open) {
        if observer.pointee.state.read().phase == .following {
            thread.pointee.leaving.append(observer)
            return
        }
        // Who stops it is about to say that it is left to this thread.
        pause.wait()
    }
    guard let promise = observer.upstream else { fatal("an observer looks at nothing") }
    observer.pointee.state.close()
    observer.owner.pointee.told(observer, promise, thread)
    promise.release(thread)
}

/// Makes an observer let go of its promise, which is cancelled if nobody else reads it and `cancelling`. False when it
/// looks at nothing, was told, or is being told. Else the owner hears that it has stopped, before foreign code runs.
func stopObserving(_ observer: RecordPointer, cancelling: Bool, _ thread: ThreadPointer) -> Bool {
    guard observer.pointee.state.transitionToClaimed(from: .open) else { return false }
    observer.progress = cancelling ? .passes : []
    if !takeOutUnlessSettled(observer) {
        // It is on its way to being told, perhaps by this very thread: waiting for that could be for ever.
        observer.pointee.state.transitionToFollowing()
        return true
    }
    // A loop, not a recursion: what is given up may be a combinator's promise.
    asOneStep(thread) { thread.pointee.leaving.append(observer) }
    return true
}

/// False when the promise is settled: then the observer is, or will be, on a thread's list of outcomes.
private func takeOutUnlessSettled(_ observer: RecordPointer) -> Bool {
    guard let promise = observer.upstream else { fatal("an observer looks at nothing") }
    var pause = Backoff()
    while true {
        let word = promise.pointee.state.lock()
        if word.hasValue {
            promise.pointee.state.unlock(word.phase, word.head)
            return false
        }
        let rest = unlink(observer, from: word)
        promise.pointee.state.unlock(word.phase, rest.head)
        if rest.found { return true }
        // It is about to enter.
        pause.wait()
    }
}

/// A stopped observer gives up its promise.
func giveUpObserved(_ observer: RecordPointer, _ thread: ThreadPointer) {
    guard let promise = observer.upstream else { fatal("an observer looks at nothing") }
    let isCancelling = observer.progress.contains(.passes)
    observer.pointee.state.close()
    observer.owner.pointee.stopped(observer, thread)
    if isCancelling {
        cancelUnlessRead(promise, ownErrors.cancelled, thread)
    } else {
        promise.release(thread)
    }
}
