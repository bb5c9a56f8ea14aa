// What the steps of the core tell while somebody watches. Each note is called by a thread that has a reference to the
// record, or has it locked: so the address of a record means the same one from `noteMade` to `noteFreed`.

import CVow
import CVowPlatform

/// Records what the calling thread tells, if tracing is on.
@inline(__always)
private func note(_ body: (inout Trace) -> Void) {
    if !beginNote() { return }
    trace.introduceThread()
    body(&trace)
    endNote()
}

/// A promise begins to be.
@inline(never)
func noteMade(_ record: RecordPointer, _ kind: TraceKind) {
    let isLink = record.pointee.shape.contains(.link)
    let reads = isLink ? record.upstream : nil
    if vow_platform_is_probed() != 0 { vow_probe_create(record, reads, characters(kind.name)) }
    if !isTracing { return }
    let site = siteOfCaller()
    note { trace in
        // Before the new promise, whose entry the making of another one could move.
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

/// A promise was made for work that may never be: there is none yet.
@inline(never)
func noteReserved(_ work: RecordPointer) {
    note { trace in
        if let entry = trace.table.find(work) { trace.forget(entry) }
    }
}

/// Work begins that is a part of another promise: made where that was.
@inline(never)
func notePart(_ work: RecordPointer, _ kind: TraceKind, of promise: RecordPointer) {
    note { trace in
        let site = trace.known(promise)?.pointee.site
        guard let entry = trace.known(work) else { return }
        entry.pointee.kind = kind.rawValue
        if let site { entry.pointee.site = site }
    }
}

/// Somebody resolves a promise with a value.
@inline(never)
func noteResolved(_ record: RecordPointer, _ value: vow_value) {
    if vow_platform_is_probed() != 0 { vow_probe_resolve(record, value.kind) }
}

/// A promise gets its value (borrowed). Nobody else can settle it any more, nor read it yet.
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

/// The memory of a promise is about to be given back.
@inline(never)
func noteFreed(_ record: RecordPointer) {
    note { trace in
        guard let entry = trace.table.find(record) else { return }
        trace.catchUp(entry)
        if entry.isPending { trace.writeReleased(entry) }
        trace.forget(entry)
    }
}

/// A promise begins to follow another one, or goes on to one further along the same path.
@inline(never)
func noteFollows(_ record: RecordPointer, _ followed: RecordPointer, isFirst: Bool) {
    note { trace in
        // The followed one before the follower, whose entry the making of another one could move.
        let id = trace.knownID(followed)
        guard id != 0, let entry = trace.known(record) else { return }
        entry.waitFor(followed, id)
        entry.pointee.follows = 1
        entry.pointee.has_run = 1
        if isFirst { trace.writeEdge("follows", from: entry.pointee.id, to: id) }
    }
}

/// The promise of a combinator begins to look at another one, by an eye of its own.
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

/// An eye looks away.
@inline(never)
func noteLooksAway(_ eye: RecordPointer) {
    note { trace in
        if let entry = trace.table.find(eye) { trace.forget(entry) }
    }
}

/// A thread begins to wait for a promise. Returns when that was, 0: not traced.
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

/// The wait is over.
@inline(never)
func noteWaited(_ waiter: RecordPointer, for promise: RecordPointer, since began: Int64) {
    note { trace in
        if let entry = trace.table.find(waiter) { trace.forget(entry) }
        if let entry = trace.known(promise) { trace.writeWait(for: entry, since: began) }
    }
}

/// What the run of a handler is known by while it lasts.
struct TracedRun {
    let began: Int64
    let id: UInt64
    let reads: UInt64
}

/// The handler of a reaction is about to run.
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

/// The handler has returned.
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

/// A promise is about to be rejected by somebody who cancels it.
@inline(never)
func noteCancelled(_ record: RecordPointer) {
    if vow_platform_is_probed() != 0 { vow_probe_cancel(record) }
    note { trace in
        if let entry = trace.known(record) { trace.writeCancelled(entry) }
    }
}

/// Somebody has said how far the work for a promise is.
@inline(never)
func noteProgress(_ record: RecordPointer, _ fraction: Double, _ text: UnsafePointer<CChar>?) {
    note { trace in
        guard let entry = trace.known(record) else { return }
        entry.pointee.progress = fraction
        trace.writeProgress(of: entry.pointee.id, fraction, text)
    }
}

/// The program's name for a promise; nil: none again.
@inline(never)
func noteLabel(_ record: RecordPointer, _ label: UnsafePointer<CChar>?) {
    note { trace in
        if let entry = trace.known(record) { setLabel(of: entry, label) }
    }
}

private func characters(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
