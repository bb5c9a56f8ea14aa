// From records to their entries in the table.

import CVow
import CVowPlatform

extension Trace {
    /// Without memory the history lacks what would be told of it.
    mutating func insert(_ record: RecordPointer) -> TraceEntryPointer? {
        let entry = table.insert(record)
        if entry == nil { file.leaveOut(for: ENOMEM) }
        return entry
    }

    mutating func enter(_ record: RecordPointer, _ kind: TraceKind) -> TraceEntryPointer? {
        if table.find(record) != nil { fatal("a new promise is where a trace knows another one") }
        guard let entry = insert(record) else { return nil }
        entry.pointee.kind = kind.rawValue
        entry.pointee.made = monotonicNow()
        entry.pointee.made_by = vow_platform_thread_number()
        live += 1
        pending += 1
        return entry
    }

    /// The entry of a promise; one that is older than the trace gets it now.
    mutating func known(_ record: RecordPointer) -> TraceEntryPointer? {
        if let entry = table.find(record) {
            catchUp(entry)
            return entry
        }
        let shape = record.pointee.shape
        if shape.contains(.immortal) { return nil }
        var kind = TraceKind.promise
        if shape.contains(.link) {
            kind = TraceKind(ofLink: shape, reads: true)
        } else if shape.isProduced {
            kind = record.producer.pointee.kind
        }
        guard let entry = enter(record, kind) else { return nil }
        if record.pointee.state.read().hasValue { markSettled(entry, with: record.value) }
        return entry
    }

    mutating func markSettled(_ entry: TraceEntryPointer, with value: vow_value) {
        entry.pointee.state = value.isError ? TraceState.rejected : TraceState.fulfilled
        entry.pointee.settled = monotonicNow()
        entry.pointee.settled_by = vow_platform_thread_number()
        pending -= 1
    }

    /// Who settled it may have looked just before tracing was switched on. An entry's record is there as long as the
    /// entry: who frees it comes here first.
    mutating func catchUp(_ entry: TraceEntryPointer) {
        let kind = entry.pointee.traceKind
        // A value's maker is about to tell.
        if entry.pointee.state != TraceState.pending || !kind.isPromise || kind == .value { return }
        guard let address = entry.pointee.record else { return }
        let record = UnsafeMutableRawPointer(mutating: address).assumingMemoryBound(to: Record.self)
        if !record.pointee.state.read().hasValue { return }
        markSettled(entry, with: record.value)
        writeLife(of: entry, nil)
        entry.pointee.reads = nil
    }

    /// All of them.
    mutating func catchUp() {
        var place = 0
        while let entry = table.next(&place) { catchUp(entry) }
    }

    mutating func forgetRecords() {
        table.removeAll()
        sites.removeAll()
    }

    mutating func eye(_ eye: RecordPointer) -> TraceEntryPointer? {
        if let entry = table.find(eye) { return entry }
        let entry = insert(eye)
        entry?.pointee.kind = TraceKind.eye.rawValue
        entry?.pointee.made = monotonicNow()
        return entry
    }
}
