// The notes that steps of the core take while the program is watched. A note's caller has a reference to the record,
// or has it locked: so an address means the same record from `noteMade` to `noteFreed`.

import CVow
import CVowPlatform

/// Calls the body with the trace, if tracing is on.
@inline(__always)
private func note(_ body: (inout Trace) -> Void) {
    if !beginNote() { return }
    trace.introduceThread()
    body(&trace)
    endNote()
}

@inline(never)
func noteMade(_ record: RecordPointer, _ kind: TraceKind) {
    let isLink = record.pointee.shape.contains(.link)
    let reads = isLink ? record.upstream : nil
    if vow_platform_is_probed() != 0 { vow_probe_create(record, reads, characters(kind.name)) }
    if !isTracing { return }
    let site = siteOfCaller()
    note { trace in
        // Before the new promise's entry: the making of another entry could move it.
        let readsID = trace.knownID(reads)
        guard let entry = trace.enter(record, kind) else { return }
        entry.pointee.site = site
        if readsID != 0 { entry.waitFor(reads, readsID) }
        entry.pointee.reads_at_first = readsID
        if isLink && kind != .subscription {
            entry.nameExecutor(record.isInline ? nil : record.executorElsewhere)
        }
        trace.writeCountersIfDue()
    }
}

/// The promise made for this work does not exist yet, and may never do.
@inline(never)
func noteReserved(_ work: RecordPointer) {
    note { trace in
        if let entry = trace.table.find(work) { trace.forget(entry) }
    }
}

/// The work is a part of another promise, and has its site.
@inline(never)
func notePart(_ work: RecordPointer, _ kind: TraceKind, of promise: RecordPointer) {
    note { trace in
        let site = trace.known(promise)?.pointee.site
        guard let entry = trace.known(work) else { return }
        entry.pointee.kind = kind.rawValue
        if let site { entry.pointee.site = site }
    }
}

@inline(never)
func noteResolved(_ record: RecordPointer, _ value: vow_value) {
    if vow_platform_is_probed() != 0 { vow_probe_resolve(record, value.kind) }
}

/// A promise gets its value (borrowed). No other thread can settle it any more, nor read it yet.
@inline(never)
func noteSettled(_ record: RecordPointer, _ value: vow_value) {
    if vow_platform_is_probed() != 0 {
        let code = value.isError ? value.box?.errorCode ?? 0 : 0
        vow_probe_settle(record, value.isError ? 1 : 0, code)
    }
    note { trace in
        guard let entry = trace.known(record), entry.isPending else { return }
        trace.markSettled(entry, with: value)
        trace.writeSettled(entry, value)
        entry.pointee.reads = nil
        entry.pointee.has_run = 1
        trace.writeCountersIfDue()
    }
}

/// The promise's memory is about to be given back.
@inline(never)
func noteFreed(_ record: RecordPointer) {
    note { trace in
        guard let entry = trace.table.find(record) else { return }
        trace.catchUp(entry)
        if entry.isPending { trace.writeReleased(entry) }
        trace.forget(entry)
    }
}

/// A promise begins to follow another one, or moves further along the same path.
@inline(never)
func noteFollows(_ record: RecordPointer, _ followed: RecordPointer, isFirst: Bool) {
    note { trace in
        // Before the follower's entry: the making of another entry could move it.
        let id = trace.knownID(followed)
        guard id != 0, let entry = trace.known(record) else { return }
        entry.waitFor(followed, id)
        entry.pointee.follows = 1
        entry.pointee.has_run = 1
        if isFirst { trace.writeEdge("follows", from: entry.pointee.id, to: id) }
    }
}

/// A combined promise begins to look at another promise, by an eye.
@inline(never)
func noteLooks(_ eye: RecordPointer, at promise: RecordPointer, for combined: RecordPointer?) {
    note { trace in
        let owner = trace.knownID(combined)
        let id = trace.knownID(promise)
        guard id != 0, let entry = trace.table.find(eye) ?? trace.insert(eye, .eye) else { return }
        entry.waitFor(promise, id)
        entry.pointee.owner = owner
        entry.pointee.combined = UnsafeRawPointer(combined)
        if owner != 0 { trace.writeEdge("waits", from: owner, to: id) }
    }
}

@inline(never)
func noteLooksAway(_ eye: RecordPointer) {
    note { trace in
        if let entry = trace.table.find(eye) { trace.forget(entry) }
    }
}

/// A thread begins to wait for a promise. Returns the time; 0: not traced.
@inline(never)
func noteWaits(_ waiter: RecordPointer, for promise: RecordPointer) -> Int64 {
    var began: Int64 = 0
    note { trace in
        began = monotonicNow()
        let id = trace.knownID(promise)
        guard id != 0, let entry = trace.insert(waiter, .thread) else { return }
        entry.waitFor(promise, id)
        entry.pointee.owner = UInt64(vow_platform_thread_number())
    }
    return began
}

@inline(never)
func noteWaited(_ waiter: RecordPointer, for promise: RecordPointer, since began: Int64) {
    note { trace in
        if let entry = trace.table.find(waiter) { trace.forget(entry) }
        if let entry = trace.known(promise) { trace.writeWait(for: entry, since: began) }
    }
}

/// A handler's run.
struct TracedRun {
    let began: Int64
    let id: UInt64
    let reads: UInt64
}

@inline(never)
func noteRuns(
    _ reaction: RecordPointer, reading promise: RecordPointer?, on executor: ExecutorPointer?
) -> TracedRun? {
    if vow_platform_is_probed() != 0 {
        vow_probe_run_start(reaction, promise, characters(kindName(of: executor)))
    }
    var run: TracedRun?
    note { trace in
        let began = monotonicNow()
        let id = trace.knownID(reaction)
        if id == 0 { return }
        let reads = trace.knownID(promise)
        run = TracedRun(began: began, id: id, reads: reads)
        if let promise, let source = trace.table.find(promise), source.pointee.settled != 0 {
            trace.writeFlow(from: source, to: id, at: began)
        }
        if let entry = trace.table.find(reaction) {
            entry.nameExecutor(executor)
            entry.pointee.has_run = 0
            entry.pointee.reads = nil
        }
    }
    return run
}

@inline(never)
func noteRan(_ reaction: RecordPointer, _ run: TracedRun?) {
    if vow_platform_is_probed() != 0 { vow_probe_run_done(reaction) }
    guard let run else { return }
    note { trace in
        guard let entry = trace.table.find(reaction), entry.pointee.id == run.id else { return }
        trace.writeRun(run, of: entry)
        entry.pointee.has_run = 1
    }
}

/// A promise is about to be rejected by a cancellation.
@inline(never)
func noteCancelled(_ record: RecordPointer) {
    if vow_platform_is_probed() != 0 { vow_probe_cancel(record) }
    note { trace in
        if let entry = trace.known(record) { trace.writeCancelled(entry) }
    }
}

@inline(never)
func noteProgress(_ record: RecordPointer, _ fraction: Double, _ text: UnsafePointer<CChar>?) {
    note { trace in
        guard let entry = trace.known(record) else { return }
        entry.pointee.progress = fraction
        trace.writeProgress(of: entry.pointee.id, fraction, text)
    }
}

/// The program names a promise; nil: the name is gone.
@inline(never)
func noteLabel(_ record: RecordPointer, _ label: UnsafePointer<CChar>?) {
    note { trace in
        if let entry = trace.known(record) { setLabel(of: entry, label) }
    }
}

private func characters(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
