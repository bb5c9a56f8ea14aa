// Descriptors that threads without a loop watch: in a set of the process, which a libdispatch source watches.
//
// What is told that its descriptor is ready may be slow, or wait for another descriptor: after a moment's patience, for
// which a timer stands, the next source listens.

import CVowPlatform

/// Written once, before any thread has entered. Its set is made with the first watch.
nonisolated(unsafe) private(set) var processTable: WatchTablePointer! = nil

/// All under the table's lock, which is the clock's, too.
private struct Watching {
    var relay: SourceRelay
    let patience: TimerPointer
    /// The first source listens.
    var hasBegun = false
    /// It is in the clock, or about to fire.
    var isPatient = false
}

nonisolated(unsafe) private var watching: UnsafeMutablePointer<Watching>! = nil

/// Takes memory from the front of `storage`, which it moves on.
func prepareProcessWatches(_ storage: inout UnsafeMutableRawPointer) {
    processTable = makeWatchTable(in: storage, set: -1, stripe: processStripe)
    storage += WatchTable.size
    let relay = SourceRelay(in: &storage) { index in
        vow_platform_make_read_source(
            processTable.pointee.set, fireProcessWatches,
            UnsafeMutableRawPointer(bitPattern: index))
    }
    let patience = storage.bindMemory(to: TimerNode.self, capacity: 1)
    patience.initialize(to: TimerNode { _, end, _ in isOver(end) })
    storage += (MemoryLayout<TimerNode>.stride + 15) & ~15
    watching = storage.bindMemory(to: Watching.self, capacity: 1)
    watching.initialize(to: Watching(relay: relay, patience: patience))
    storage += (MemoryLayout<Watching>.stride + 15) & ~15
}

/// Under the table's lock. False: no memory, or no descriptors.
func hasProcessSet() -> Bool {
    if processTable.pointee.set < 0 { processTable.pointee.set = vow_platform_make_set() }
    if processTable.pointee.set < 0 { return false }
    if watching.pointee.hasBegun { return true }
    guard let source = watching.pointee.relay.listener() else { return false }
    watching.pointee.hasBegun = true
    vow_platform_resume_source(source)
    return true
}

/// On one of libdispatch's threads.
private func fireProcessWatches(_ context: UnsafeMutableRawPointer?) {
    let index = SourceRelay.index(context)
    let thread = currentThread()
    withStripe(processStripe) { watching.pointee.relay.begin(index) }
    _ = fireWatches(processTable, thread) { withStripe(processStripe) { bePatient() } }
    withStripe(processStripe) {
        if let source = watching.pointee.relay.end(index) {
            vow_platform_suspend_source(source)
        } else if watching.pointee.isPatient, watching.pointee.patience.pointee.clock != nil {
            watching.pointee.isPatient = false
            processClock.pointee.remove(watching.pointee.patience)
        }
    }
}

/// Under the lock, before foreign code.
private func bePatient() {
    if watching.pointee.isPatient || processClock.pointee.isClosed || !hasProcessTimer() { return }
    watching.pointee.isPatient = true
    watching.pointee.patience.pointee.clock = processClock
    processClock.pointee.add(watching.pointee.patience, at: monotonicNow() + eventPatience)
}

/// As a timer: calls no foreign code.
private func isOver(_ end: TimerEnd) {
    withStripe(processStripe) {
        watching.pointee.isPatient = false
        if end == .shutDown || !watching.pointee.relay.isHeldUp { return }
        if let source = watching.pointee.relay.listener() { vow_platform_resume_source(source) }
    }
}

/// The library's work in the process ends.
func closeProcessWatches(_ thread: ThreadPointer) { closeWatches(processTable, thread) }

/// In a forked child, under all locks: the kernel's set is the parent's, too, and must not be changed.
func turnProcessWatchesIntoCopy() { processTable.pointee.isClosed = true }
