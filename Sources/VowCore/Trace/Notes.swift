// What the steps of the core tell while somebody watches. Each is called by a thread that has a reference to the
// record, or has it locked: so a record's address means the same one from `noteMade` to `noteFreed`.

import CVow
import CVowPlatform

/// A promise begins to be.
@inline(never)
func noteMade(_ record: RecordPointer, _ kind: TraceKind) {
    let isLink = record.pointee.shape.contains(.link)
    let reads = isLink ? record.upstream : nil
    if vow_platform_is_probed() != 0 { vow_probe_create(record, reads, characters(kind.name)) }
    if !isTracing { return }
    let site = siteOfCaller()
    withTrace { trace in
        trace.introduceThread()
        // Before the new one, whose entry the making of another one could move.
        let readsID = reads.flatMap { trace.known($0)?.pointee.id } ?? 0
        guard let entry = trace.enter(record, kind) else { return }
        entry.pointee.site = site
        if readsID != 0 {
            entry.pointee.reads = UnsafeRawPointer(reads)
            entry.pointee.reads_id = readsID
            entry.pointee.reads_at_first = readsID
        }
        if isLink && kind != .subscription {
            nameExecutor(of: entry, record.isInline ? nil : record.executorElsewhere)
        }
        trace.writeCountersIfDue()
    }
}

/// A promise was made for work that may never be: there is none yet.
@inline(never)
func noteReserved(_ work: RecordPointer) {
    withTrace { trace in
        guard let entry = trace.table.find(work) else { return }
        trace.pending -= 1
        trace.live -= 1
        trace.table.remove(entry)
    }
}

/// Work begins that is a part of another promise: made where that was.
@inline(never)
func notePart(_ work: RecordPointer, _ kind: TraceKind, of promise: RecordPointer) {
    withTrace { trace in
        trace.introduceThread()
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
    withTrace { trace in
        trace.introduceThread()
        guard let entry = trace.known(record) else { return }
        if entry.pointee.state != TraceState.pending { return }
        trace.markSettled(entry, with: value)
        trace.writeLife(of: entry, value)
        entry.pointee.reads = nil
        entry.pointee.has_run = 1
        trace.writeCountersIfDue()
    }
}

/// A promise's memory is about to be given back.
@inline(never)
func noteFreed(_ record: RecordPointer) {
    withTrace { trace in
        guard let entry = trace.table.find(record) else { return }
        trace.introduceThread()
        trace.catchUp(entry)
        if entry.pointee.state == TraceState.pending {
            trace.pending -= 1
            trace.writeRelease(of: entry)
        }
        trace.live -= 1
        trace.table.remove(entry)
    }
}

/// A promise begins to follow another one, or goes on to one further along the same path.
@inline(never)
func noteFollows(_ record: RecordPointer, _ followed: RecordPointer, isFirst: Bool) {
    withTrace { trace in
        trace.introduceThread()
        // The second before the first, whose entry the making of another one could move.
        guard let id = trace.known(followed)?.pointee.id, let entry = trace.known(record) else {
            return
        }
        entry.pointee.reads = UnsafeRawPointer(followed)
        entry.pointee.reads_id = id
        entry.pointee.follows = 1
        entry.pointee.has_run = 1
        if isFirst { trace.writeEdge("follows", from: entry.pointee.id, to: id) }
    }
}

/// A combinator's promise begins to look at another one, by an eye of its own.
@inline(never)
func noteLooks(_ eye: RecordPointer, at promise: RecordPointer, for combined: RecordPointer?) {
    withTrace { trace in
        trace.introduceThread()
        let owner = combined.flatMap { trace.known($0)?.pointee.id } ?? 0
        guard let id = trace.known(promise)?.pointee.id, let entry = trace.eye(eye) else { return }
        entry.pointee.reads = UnsafeRawPointer(promise)
        entry.pointee.reads_id = id
        entry.pointee.owner = owner
        entry.pointee.combined = UnsafeRawPointer(combined)
        if owner != 0 { trace.writeEdge("waits", from: owner, to: id) }
    }
}

/// And looks away.
@inline(never)
func noteLooksAway(_ eye: RecordPointer) {
    withTrace { trace in
        if let entry = trace.table.find(eye) { trace.table.remove(entry) }
    }
}

/// A thread begins to wait for a promise. Returns when that was, 0: not traced.
@inline(never)
func noteWaits(_ waiter: RecordPointer, for promise: RecordPointer) -> Int64 {
    let began: Int64? = withTrace { trace in
        trace.introduceThread()
        let now = monotonicNow()
        guard let id = trace.known(promise)?.pointee.id,
            let entry = trace.insert(waiter)
        else { return now }
        entry.pointee.kind = TraceKind.thread.rawValue
        entry.pointee.made = now
        entry.pointee.reads = UnsafeRawPointer(promise)
        entry.pointee.reads_id = id
        entry.pointee.owner = UInt64(vow_platform_thread_number())
        return now
    }
    return began ?? 0
}

@inline(never)
func noteWaited(_ waiter: RecordPointer, for promise: RecordPointer, since began: Int64) {
    withTrace { trace in
        if let entry = trace.table.find(waiter) { trace.table.remove(entry) }
        if let promise = trace.known(promise), began != 0 {
            trace.writeWait(for: promise.pointee, from: began, until: monotonicNow())
        }
    }
}

/// A reaction's handler is about to run.
@inline(never)
func noteRuns(
    _ reaction: RecordPointer, reading promise: RecordPointer?, on executor: ExecutorPointer?
) -> TracedRun? {
    if vow_platform_is_probed() != 0 {
        vow_probe_run_start(reaction, promise, characters(kindName(of: executor)))
    }
    let run: TracedRun?? = withTrace { trace in
        trace.introduceThread()
        guard let id = trace.known(reaction)?.pointee.id else { return nil }
        let began = monotonicNow()
        let source = promise.flatMap { trace.known($0)?.pointee }
        if let source, source.settled != 0 {
            trace.writeFlow(to: id, at: began, from: source)
        }
        if let entry = trace.table.find(reaction) {
            nameExecutor(of: entry, executor)
            entry.pointee.has_run = 0
            entry.pointee.reads = nil
        }
        return TracedRun(began: began, id: id, reads: source?.id ?? 0)
    }
    return run ?? nil
}

/// It has returned.
@inline(never)
func noteRan(_ reaction: RecordPointer, _ run: TracedRun?) {
    if vow_platform_is_probed() != 0 { vow_probe_run_done(reaction) }
    withTrace { trace in
        guard let run, let entry = trace.table.find(reaction), entry.pointee.id == run.id else {
            return
        }
        trace.writeRun(run, entry.pointee, until: monotonicNow())
        entry.pointee.has_run = 1
    }
}

/// A promise is about to be rejected by somebody who cancels it.
@inline(never)
func noteCancelled(_ record: RecordPointer) {
    if vow_platform_is_probed() != 0 { vow_probe_cancel(record) }
    withTrace { trace in
        trace.introduceThread()
        if let entry = trace.known(record) { trace.writeCancel(entry.pointee) }
    }
}

/// Somebody has said how far the work for a promise is.
@inline(never)
func noteProgress(_ record: RecordPointer, _ fraction: Double, _ note: UnsafePointer<CChar>?) {
    withTrace { trace in
        trace.introduceThread()
        guard let entry = trace.known(record) else { return }
        entry.pointee.progress = fraction
        trace.writeProgress(of: entry.pointee.id, fraction, note)
    }
}

/// The program's name for a promise; nil: none again.
func noteLabel(_ record: RecordPointer, _ label: UnsafePointer<CChar>?) {
    withTrace { trace in
        guard let entry = trace.known(record) else { return }
        setLabel(of: entry, label)
    }
}

private func characters(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
