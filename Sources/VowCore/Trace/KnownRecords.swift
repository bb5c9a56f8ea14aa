// From records to their entries in the table.

import CVowPlatform

extension Trace {
    mutating func enter(_ record: RecordPointer, _ kind: TraceKind) -> TraceEntryPointer? {
        // It may be there although it is new: what kept it was given back unseen, while tracing was off.
        if let old = table.find(record) { table.remove(old) }
        guard let entry = table.insert(record) else { return nil }
        entry.pointee.kind = kind.rawValue
        entry.pointee.made = monotonicNow()
        entry.pointee.made_by = vow_platform_thread_number()
        live += 1
        pending += 1
        return entry
    }

    /// The entry of a promise; one that is older than the trace gets it now.
    mutating func known(_ record: RecordPointer) -> TraceEntryPointer? {
        if let entry = table.find(record) { return entry }
        if record.pointee.shape.contains(.immortal) { return nil }
        let isLink = record.pointee.shape.contains(.link)
        guard
            let entry = enter(
                record, isLink ? TraceKind(ofLink: record.pointee.shape, reads: true) : .promise)
        else {
            return nil
        }
        if record.pointee.state.read().phase == .settled {
            entry.pointee.state =
                record.value.isError ? TraceState.rejected : TraceState.fulfilled
            entry.pointee.settled = entry.pointee.made
            entry.pointee.settled_by = entry.pointee.made_by
            pending -= 1
        }
        return entry
    }

    mutating func eye(_ eye: RecordPointer) -> TraceEntryPointer? {
        if let entry = table.find(eye) { return entry }
        let entry = table.insert(eye)
        entry?.pointee.kind = TraceKind.eye.rawValue
        entry?.pointee.made = monotonicNow()
        return entry
    }
}
