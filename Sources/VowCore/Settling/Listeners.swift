// Who listens to the progress of which promise: a table by the promise's address. A promise that has listeners has a
// flag, so that those without never come here.

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

/// Takes them all out, as a list.
func unlist(allOf promise: RecordPointer) -> ListenerPointer? {
    var isUntended = false
    let first = listenersLock.withLock {
        let taken = listeners.remove(promise)
        isUntended = listeners.pointee.isUntended
        return taken
    }
    if isUntended { tend(listeners, listenersLock) }
    return first.map { listener(at: $0) }
}

/// Its place is the first field.
private func listener(at place: TablePlace) -> ListenerPointer {
    UnsafeMutableRawPointer(place).assumingMemoryBound(to: Listener.self)
}

extension ListenerPointer {
    fileprivate var place: TablePlace {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: TableMember.self)
    }

    /// The next one in the list of those that were taken out.
    var next: ListenerPointer? { pointee.place.next.map { listener(at: $0) } }
}

/// A promise with listeners is freed: those that are not being told are freed too.
func closeListeners(of promise: RecordPointer, _ thread: ThreadPointer) {
    var listener = unlist(allOf: promise)
    while let current = listener {
        var delayed: RecordPointer?
        listenersLock.withLock {
            listener = current.next
            delayed = current.pointee.delayed
            current.pointee.delayed = nil
        }
        if let delayed {
            _ = cancel(delayed, ownErrors.cancelled, thread)
            delayed.release(thread)
        }
        release(current, thread)
    }
}

@inline(never)
func release(_ listener: ListenerPointer, _ thread: ThreadPointer) {
    let isLast = listenersLock.withLock {
        listener.pointee.holds -= 1
        return listener.pointee.holds == 0
    }
    if !isLast { return }
    let it = listener.pointee
    giveMemoryBack(listener, Listener.size)
    it.executor.release(thread)
    it.token?.releaseToken(thread)
    if let destroy = it.destroy {
        runForeign(thread) { carrying(it.surroundings, thread) { destroy(it.context) } }
    } else {
        it.surroundings.release(thread)
    }
}
