// The recorder: what is known of the promises that are alive, while somebody asks for it. The core's steps tell it
// (Notes.swift), the history (TraceEvents.swift) and the live graph (Graph.swift) are written from it.
//
// `traceLock` guards `trace`, and with it the table, the names of sites and the history. It is the last lock that a
// thread takes: its holder takes no other and calls no foreign code but the program's allocator. Events are written
// under it, to a descriptor that does not block unless it is a disk's.

import CVow
import CVowPlatform

struct Trace {
    var isOn = false
    /// A thread makes the file of a history, or ends it: nobody else can switch tracing on.
    var isChanging = false
    var table = TraceTable(isShown: true)
    /// The names of sites.
    var sites = TraceTable()
    var history = History()
    /// How often tracing was switched on: threads introduce themselves once in each.
    var round: UInt32 = 0
    var live: Int64 = 0
    var pending: Int64 = 0
}

let traceLock = SpinLock()
nonisolated(unsafe) var trace = Trace()

/// A tracer has asked for the probes, or tracing is on. Every step of the core asks before it tells of itself: one load
/// and one branch while nobody looks on.
@inline(__always)
var isWatched: Bool { (hasTracing ? vow_platform_is_watched() : vow_platform_is_probed()) != 0 }

/// Tracing is on: relaxed, because a thread that finds it on asks again under the lock.
@inline(__always)
var isTracing: Bool { hasTracing && vow_platform_is_tracing() != 0 }

/// False in a build with MINIMAL=1: the compiler then drops the recorder, and what writes its files and graphs.
@inline(__always)
var hasTracing: Bool {
    #if VOW_MINIMAL
        return false
    #else
        return true
    #endif
}

/// Does something with the trace, if it is on.
@inline(__always)
@discardableResult
func withTrace<Result>(_ body: (inout Trace) -> Result) -> Result? {
    if !beginNote() { return nil }
    let result = body(&trace)
    endNote()
    return result
}

/// Takes the lock. False: tracing is off, and the lock free.
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
    /// Without memory the record stays unknown, and the history lacks what would be told of it.
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

    /// The entry of a promise; one that is older than the trace gets it now.
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

    /// The settling thread may have found tracing off just before it was switched on. The record of an entry is there
    /// as long as the entry: the thread that frees the record comes here first.
    @inline(never)
    mutating func catchUp(_ entry: TraceEntryPointer) {
        // The maker of a value is about to tell.
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

    /// Nil: it has none.
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
