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
