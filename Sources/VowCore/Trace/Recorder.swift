// The recorder: the library's knowledge of the live promises, while the program asks for it. Steps of the core call it
// (Notes.swift); the history (TraceEvents.swift) and the live graph (Graph.swift) are written from it.
//
// `traceLock` guards `trace`: the table, the names of sites and the history. A thread takes it after all other locks (a
// note may be taken under a record's lock); in a checked library only the lock of freed memory comes after it. The
// holder takes no note, only reads the words of records, and calls no foreign code but the program's allocator, which
// must not call Vow. It does not call the loader either: see Sites.swift. Events are written under the lock, with the
// thread's cancellation off, to a descriptor that does not block unless it is a disk's. A line on standard error, and a
// graph, are written after the lock. A thread that ends a history takes its rest under the lock, sets `isChanging`, and
// waits for the reader without the lock. Meanwhile tracing is off, no thread can start it, and only this thread uses
// the descriptor, or a forked child, which closes it.
//
// *An entry's record is there as long as the entry:*
//
// - A thread enters a record to which it has a reference, that it has locked, or that it makes; no other.
// - A thread that frees a record removes its entry first, if a relaxed load finds tracing on. The load cannot find it
//   off while there is an entry: the thread that made the entry, under the lock, had found tracing on, which is after
//   the store that switched it on; that thread gave its reference back later, and the thread that gives the last one
//   back acquires that. The store that switches tracing off is the last step of the section that empties the table: a
//   thread that sees it finds no entry, and a thread that does not see it waits for the lock.
// - So under the lock the state word of each entered promise may be read, and then the value that the word published.
//   `catchUp` needs it.
// - An observer's entry is made before the observer enters a queue. The thread that fires it or gives it up removes the
//   entry before it notifies the owner, which may free the memory. A waiter's entry is made after the waiter has
//   entered, and its thread removes it when it leaves the wait. Both hold an address and an id only for comparison.
// - Entries move when others are made or removed, so a note takes the ids of others first, its own entry last.
// - The thread that has the lock or the claim notes the settling before the step that publishes: so no reader's note
//   comes before it, and no thread can free the promise meanwhile. A path without a lock does so while it alone has it.

import CVow
import CVowPlatform

struct Trace {
    var isOn = false
    /// A thread opens or ends the file of a history: no other thread can switch tracing on.
    var isChanging = false
    var table = TraceTable(isShown: true)
    var sites = TraceTable()
    var history = History()
    /// How often tracing was switched on: each thread introduces itself once in each round.
    var round: UInt32 = 0
    var live: Int64 = 0
    var pending: Int64 = 0
}

let traceLock = SpinLock()
nonisolated(unsafe) var trace = Trace()

/// A tracer has asked for the probes, or tracing is on. Asked before each note: one load and one branch if not.
@inline(__always)
var isWatched: Bool { (hasTracing ? vow_platform_is_watched() : vow_platform_is_probed()) != 0 }

/// Tracing is on. Relaxed, because a thread that finds it on asks again under the lock.
@inline(__always)
var isTracing: Bool { hasTracing && vow_platform_is_tracing() != 0 }

/// False in a build with MINIMAL=1: then the compiler drops the recorder, the history and the graph.
@inline(__always)
var hasTracing: Bool {
    #if VOW_MINIMAL
        return false
    #else
        return true
    #endif
}

/// Calls the body with the trace, if tracing is on.
@inline(__always)
@discardableResult
func withTrace<Result>(_ body: (inout Trace) -> Result) -> Result? {
    if !beginNote() { return nil }
    let result = body(&trace)
    endNote()
    return result
}

/// Takes the lock. False: tracing is off, and the lock is free.
@inline(__always)
func beginNote() -> Bool { hasTracing && lockIfTracing() }

@inline(never)
private func lockIfTracing() -> Bool {
    traceLock.lock()
    if trace.isOn { return true }
    traceLock.unlock()
    return false
}

/// A line on standard error follows the lock.
@inline(never)
func endNote() {
    let hasNews = trace.history.writeIfDue()
    traceLock.unlock()
    if hasNews { sayTraceNews() }
}

extension Trace {
    /// Without memory the record stays unknown, and the history lacks its events.
    mutating func insert(_ record: RecordPointer, _ kind: TraceKind) -> TraceEntryPointer? {
        guard let entry = table.insert(record) else {
            history.leaveOut(for: ENOMEM)
            return nil
        }
        entry.pointee.kind = kind.rawValue
        entry.pointee.made = monotonicNow()
        entry.pointee.made_by = vow_platform_thread_number()
        return entry
    }

    mutating func enter(_ promise: RecordPointer, _ kind: TraceKind) -> TraceEntryPointer? {
        if table.find(promise) != nil { fatal("a new promise is where a trace knows another one") }
        guard let entry = insert(promise, kind) else { return nil }
        live += 1
        pending += 1
        return entry
    }

    /// The entry of a promise, made now if the promise is older than the trace.
    @inline(never)
    mutating func known(_ promise: RecordPointer) -> TraceEntryPointer? {
        if let entry = table.find(promise) {
            catchUp(entry)
            return entry
        }
        let shape = promise.pointee.shape
        if shape.contains(.immortal) { return nil }
        var kind = TraceKind.promise
        if shape.contains(.link) {
            kind = TraceKind(ofLink: shape, reads: true)
        } else if shape.isProduced {
            kind = promise.producer.pointee.kind
        }
        guard let entry = enter(promise, kind) else { return nil }
        if promise.pointee.state.read().hasValue { markSettled(entry, with: promise.value) }
        return entry
    }

    mutating func knownID(_ promise: RecordPointer?) -> UInt64 {
        promise.flatMap { known($0) }?.pointee.id ?? 0
    }

    mutating func markSettled(_ entry: TraceEntryPointer, with value: vow_value) {
        entry.pointee.state = value.isError ? TraceState.rejected : TraceState.fulfilled
        entry.pointee.settled = monotonicNow()
        entry.pointee.settled_by = vow_platform_thread_number()
        pending -= 1
    }

    /// The settling thread may have found tracing off just before it was switched on, and took no note.
    @inline(never)
    mutating func catchUp(_ entry: TraceEntryPointer) {
        // The maker of a value is about to take the note.
        if !entry.isPending || entry.kind == .value { return }
        guard let address = entry.pointee.record else { return }
        let record = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: Record.self)
        if !record.pointee.state.read().hasValue { return }
        markSettled(entry, with: record.value)
        writeSettled(entry, nil)
        entry.pointee.reads = nil
    }

    @inline(never)
    mutating func forget(_ entry: TraceEntryPointer) {
        if entry.kind.isPromise { live -= 1 }
        if entry.isPending { pending -= 1 }
        table.remove(entry)
    }

    mutating func forgetAll() {
        table.removeAll()
        sites.removeAll()
        live = 0
        pending = 0
    }
}

extension TraceEntryPointer {
    var kind: TraceKind { TraceKind(rawValue: pointee.kind) ?? .promise }

    var isPending: Bool { kind.isPromise && pointee.state == TraceState.pending }

    func waitFor(_ promise: RecordPointer?, _ id: UInt64) {
        pointee.reads = UnsafeRawPointer(promise)
        pointee.reads_id = id
    }

    /// Nil: no executor.
    var executor: UnsafePointer<CChar>? {
        let name = vow_trace_executor(self)!
        return name[0] == 0 ? nil : UnsafePointer(name)
    }

    /// The kind of the executor, and the label of its queue.
    func nameExecutor(_ executor: ExecutorPointer?) {
        var text = TextBuffer(vow_trace_executor(self), capacity: Int(VOW_TRACE_EXECUTOR_SIZE))
        text.append(kindName(of: executor))
        guard let executor, !executor.pointee.isImmortal,
            let label = executor.pointee.queue?.label
                ?? executor.name.map({ UnsafePointer($0) }),
            label[0] != 0
        else { return }
        text.append(" ")
        text.append(label, strlen(label))
    }
}

/// Nil: the inline executor.
func kindName(of executor: ExecutorPointer?) -> StaticString {
    guard let executor else { return "inline" }
    switch executor.pointee.kind {
    case .inline: return "inline"
    case .pool: return "pool"
    case .serial: return executor.pointee.isImmortal ? "main" : "serial"
    case .dispatch, .barrier: return "dispatch"
    case .custom: return "custom"
    case .loop: return "loop"
    }
}
