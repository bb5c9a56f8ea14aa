// Watching descriptors: on a loop's thread in its set, elsewhere in the process's.

import CVowPlatform

enum WatchStart {
    case started
    /// Nothing to watch: it is always ready.
    case always
    case refused, noMemory
}

/// It may fire before this returns. The descriptor is open.
func startWatch(_ watch: WatchPointer, _ thread: ThreadPointer) -> WatchStart {
    let loop = loopHere(thread)
    defer { loop?.release(thread) }
    guard let table: WatchTablePointer = loop?.pointee.watches ?? processTable else {
        fatal("there is no table of watches")
    }
    if table == processTable && refusesWork { return .refused }
    if table == processTable && !prepareKeeper(thread) { return .noMemory }
    var lost: WatchPointer?
    let start: WatchStart = withStripe(table.pointee.stripe) {
        if table.pointee.isClosed { return .refused }
        if table == processTable && !hasProcessSet() { return .noMemory }
        let failure = table.add(watch)
        #if VOW_CHECKED
            if table == processTable { table.lookForLost() }
        #endif
        lost = table.takeLost()
        switch failure {
        case 0: return .started
        case EPERM: return .always
        default: return .noMemory
        }
    }
    if lost != nil { _ = fireLost(lost, thread) }
    return start
}

/// Returns how many.
private func fireLost(_ list: WatchPointer?, _ thread: ThreadPointer) -> Int {
    var fired = 0
    var next = list
    asOneStep(thread) {
        while let watch = next {
            next = watch.pointee.next
            fired += 1
            watch.pointee.fire(watch, 0, thread)
        }
    }
    return fired
}

#if VOW_CHECKED
    /// Fires those whose descriptors were closed, where nothing else shows it. Returns how many.
    func fireClosed(_ table: WatchTablePointer, _ thread: ThreadPointer) -> Int {
        let lost: WatchPointer? = withStripe(table.pointee.stripe) {
            if table.pointee.isClosed || table.pointee.set < 0 { return nil }
            table.lookForLost()
            return table.takeLost()
        }
        if lost == nil { return 0 }
        let fired = fireLost(lost, thread)
        leave(thread)
        return fired
    }
#endif

/// True: it will never fire, and the kernel has forgotten it. False: it has fired, or is about to.
func stopWatch(_ watch: WatchPointer, _ thread: ThreadPointer) -> Bool {
    var lost: WatchPointer?
    let isStopped = withStripe(watch.pointee.stripe) {
        guard let table = watch.pointee.table else { return false }
        table.remove(watch)
        lost = table.takeLost()
        return true
    }
    if lost != nil { _ = fireLost(lost, thread) }
    return isStopped
}

/// Fires what is ready in a table, up to 64 descriptors. Returns how many fired. All settle before foreign code
/// runs, which might read what others were told is there, or wait for one of them.
/// - Parameter allAreSettled: called then.
func fireWatches(
    _ table: WatchTablePointer, _ thread: ThreadPointer, then allAreSettled: () -> Void = {}
) -> Int {
    let set: Int32 = withStripe(table.pointee.stripe) {
        table.pointee.count == 0 || table.pointee.isClosed ? -1 : table.pointee.set
    }
    if set < 0 { return 0 }
    return withUnsafeTemporaryAllocation(of: vow_platform_ready.self, capacity: 64) { ready in
        var fired = 0
        asOneStep(thread) {
            for index in 0..<Int(vow_platform_look(set, ready.baseAddress, 64)) {
                fired += fire(ready[index], in: table, thread)
            }
            allAreSettled()
        }
        leave(thread)
        return fired
    }
}

private func fire(
    _ found: vow_platform_ready, in table: WatchTablePointer, _ thread: ThreadPointer
) -> Int {
    var fired = 0
    var lost: WatchPointer?
    var list: WatchPointer? = withStripe(table.pointee.stripe) {
        if table.pointee.isClosed { return nil }
        let taken = table.take(found.descriptor, found.events)
        lost = table.takeLost()
        return taken
    }
    while let watch = list {
        list = watch.pointee.next
        fired += 1
        watch.pointee.fire(watch, found.events & watch.pointee.events, thread)
    }
    return lost == nil ? fired : fired + fireLost(lost, thread)
}

/// The loop is destroyed.
func closeWatches(_ table: WatchTablePointer, _ thread: ThreadPointer) {
    let stripe = table.pointee.stripe
    withStripe(stripe) { table.pointee.isClosed = true }
    while let watch = withStripe(stripe, { table.takeAny() }) {
        watch.pointee.fire(watch, 0, thread)
    }
}
