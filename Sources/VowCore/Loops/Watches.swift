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
    let stripe = table.pointee.stripe
    return withStripe(stripe) {
        if table.pointee.isClosed { return .refused }
        if table == processTable && !hasProcessSet() { return .noMemory }
        switch table.add(watch) {
        case 0: return .started
        case EPERM: return .always
        default: return .noMemory
        }
    }
}

/// True: it will never fire, and the kernel has forgotten it. False: it has fired, or is about to.
func stopWatch(_ watch: WatchPointer) -> Bool {
    withStripe(watch.pointee.stripe) {
        guard let table = watch.pointee.table else { return false }
        table.remove(watch)
        return true
    }
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
    var list = withStripe(table.pointee.stripe) {
        table.pointee.isClosed ? nil : table.take(found.descriptor, found.events)
    }
    while let watch = list {
        list = watch.pointee.next
        fired += 1
        watch.pointee.fire(watch, found.events & watch.pointee.events, thread)
    }
    return fired
}

/// The loop is destroyed.
func closeWatches(_ table: WatchTablePointer, _ thread: ThreadPointer) {
    let stripe = table.pointee.stripe
    withStripe(stripe) { table.pointee.isClosed = true }
    while let watch = withStripe(stripe, { table.takeAny() }) {
        watch.pointee.fire(watch, 0, thread)
    }
}
