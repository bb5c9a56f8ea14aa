// Descriptors that threads without a loop watch: in a set of the process. A thread of our own, the watcher, looks at the set,
// and calls a worker when something in it is ready; then it rests until that worker has taken what there is.
//
// What is told that its descriptor is ready may be slow, or wait for another descriptor: after a moment's patience, for
// which a timer stands, the watcher looks again.

import CVow
import CVowPlatform

/// Written once, before any thread has entered. Its set is made with the first watch.
nonisolated(unsafe) private(set) var processTable: WatchTablePointer! = nil

/// All under the table's lock, which is the clock's, too.
private struct Watching {
    let patience: TimerPointer
    /// It is in the clock, or about to fire.
    var isPatient = false
    /// The watcher was made.
    var isThere = false
    /// What wakes it when it is to end; -1: nothing.
    var farewell: Int32 = -1
}

nonisolated(unsafe) private var watching: UnsafeMutablePointer<Watching>! = nil

/// What the watcher rests on.
private let watcherWord = AtomicWord(Parking.awake)

/// Takes memory from the front of `storage`, which it moves on.
func prepareProcessWatches(_ storage: inout UnsafeMutableRawPointer) {
    processTable = makeWatchTable(in: storage, set: -1, stripe: processStripe)
    storage += WatchTable.size
    let patience = storage.bindMemory(to: TimerNode.self, capacity: 1)
    patience.initialize(to: TimerNode { _, _, _ in isOver() })
    storage += (MemoryLayout<TimerNode>.stride + 15) & ~15
    watching = storage.bindMemory(to: Watching.self, capacity: 1)
    watching.initialize(to: Watching(patience: patience))
    storage += (MemoryLayout<Watching>.stride + 15) & ~15
}

/// Under the table's lock, when there is a keeper. False: no memory, no descriptors, or no thread.
func hasProcessSet() -> Bool {
    if processTable.pointee.set < 0 { processTable.pointee.set = vow_platform_make_set() }
    if processTable.pointee.set < 0 { return false }
    if !watching.pointee.isThere { watching.pointee.isThere = startThread(watcherMain) }
    return watching.pointee.isThere
}

private func watcherMain(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    vow_platform_name_thread("vow watcher")
    let thread = currentThread()
    while let set = withStripe(processStripe, { processTable.pointee.openSet }) {
        _ = vow_platform_sleep(set, -1)
        submitEvent(.watches, thread)
        _ = park(watcherWord, at: watcherWord.address, until: .never)
    }
    withStripe(processStripe) {
        if watching.pointee.farewell >= 0 { vow_platform_close(watching.pointee.farewell) }
        watching.pointee.farewell = -1
    }
    return nil
}

extension WatchTable {
    /// Nil: it is closed.
    fileprivate var openSet: Int32? { isClosed ? nil : set }
}

private func lookAgain() { unparkToLook(watcherWord, at: watcherWord.address) }

/// Something is ready.
func fireProcessWatches(_ thread: ThreadPointer) {
    _ = fireWatches(processTable, thread) { withStripe(processStripe) { bePatient() } }
    withStripe(processStripe) {
        if watching.pointee.isPatient, watching.pointee.patience.pointee.clock != nil {
            watching.pointee.isPatient = false
            processClock.pointee.remove(watching.pointee.patience)
        }
    }
    lookAgain()
}

/// Under the lock, before foreign code.
private func bePatient() {
    if watching.pointee.isPatient || processClock.pointee.isClosed { return }
    watching.pointee.isPatient = true
    watching.pointee.patience.pointee.clock = processClock
    processClock.pointee.add(watching.pointee.patience, at: monotonicNow() + eventPatience)
}

/// As a timer: calls no foreign code.
private func isOver() {
    withStripe(processStripe) { watching.pointee.isPatient = false }
    lookAgain()
}

/// The library's work in the process ends.
func closeProcessWatches(_ thread: ThreadPointer) {
    closeWatches(processTable, thread)
    withStripe(processStripe) {
        if watching.pointee.isThere && watching.pointee.farewell < 0 && !isForkedChild {
            watching.pointee.farewell = makeRaisedEvent(in: processTable.pointee.set)
        }
    }
    lookAgain()
}

/// Makes the set readable for ever. -1: there is no descriptor to be had.
private func makeRaisedEvent(in set: Int32) -> Int32 {
    let event = vow_platform_make_event()
    if event < 0 { return -1 }
    vow_platform_raise(event)
    _ = vow_platform_watch(set, event, VOW_READ)
    return event
}

/// In a forked child, under all locks: the kernel's set is the parent's, too, and must not be changed.
func turnProcessWatchesIntoCopy() { processTable.pointee.isClosed = true }
