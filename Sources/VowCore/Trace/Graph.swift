// The live graph: which promises are pending, and what they wait for. Taken under the tracing's lock into memory of
// its own, and written without it, because a pipe may be full.

import CVowPlatform

enum GraphFormat {
    case dot, json
}

enum GraphResult {
    case written
    /// Tracing is off.
    case off
    case noMemory
    /// The descriptor takes nothing: errno.
    case unwritable
}

func writeGraph(to descriptor: Int32, _ format: GraphFormat) -> GraphResult {
    withGraph(format) { $0.write(to: descriptor) ? .written : .unwritable }
}

/// Calls body with the graph, unless tracing is off or there is no memory for it.
func withGraph(_ format: GraphFormat, _ body: (GrowingText) -> GraphResult) -> GraphResult {
    var text = GrowingText()
    defer { text.free() }
    let isKnown: Bool? = withTrace { trace in
        trace.catchUp()
        countReaders(trace.table)
        switch format {
        case .dot: writeDOT(trace.table, trace.sites, into: &text)
        case .json: writeJSON(trace.table, trace.sites, into: &text)
        }
        return true
    }
    if isKnown == nil { return .off }
    if text.isIncomplete { return .noMemory }
    return body(text)
}

private func countReaders(_ table: TraceTable) {
    var place = 0
    while let entry = table.next(&place) { entry.pointee.readers = 0 }
    place = 0
    while let entry = table.next(&place) {
        if let read = table.target(of: entry.pointee) { read.pointee.readers += 1 }
    }
}

extension TraceTable {
    /// The entry that another one waits for, if it is still there and not settled. What a combinator looks at is
    /// left a moment after it has settled.
    func target(of entry: TraceEntry) -> TraceEntryPointer? {
        if entry.owner != 0, let combined = entry.combined, pending(combined, entry.owner) == nil {
            return nil
        }
        return entry.reads.flatMap { pending($0, entry.reads_id) }
    }

    private func pending(_ record: UnsafeRawPointer, _ id: UInt64) -> TraceEntryPointer? {
        guard let found = find(record), found.pointee.id == id,
            found.pointee.state == TraceState.pending
        else { return nil }
        return found
    }
}

extension TraceEntry {
    var traceKind: TraceKind { TraceKind(rawValue: kind) ?? .promise }

    /// It stands in the queue of an executor, or runs there.
    var isOnExecutor: Bool { executor.0 != 0 && has_run == 0 }

    /// What the edge to its target means.
    var edgeName: StaticString {
        if traceKind == .eye { return "member" }
        return follows != 0 ? "follows" : "reads"
    }

    /// The id of what waits: an eye waits for its combined promise.
    var waiter: UInt64 { traceKind == .eye ? owner : id }
}
