// The live graph: the live promises, and the waits between them. It is taken under `traceLock` into memory of its
// own, and written without the lock, because a pipe may be full. One walk over the table writes it: in JSON with
// everything that is live, or in DOT, for Graphviz, with everything that is pending.

import CVow
import CVowPlatform

/// Returns 0, VOW_ENOMEM, or VOW_EINVAL: tracing is off, or the descriptor takes nothing (errno).
func writeGraph(to descriptor: Int32, asJSON: Bool) -> Int32 {
    withGraph(asJSON: asJSON) { lines in
        let error = lines.write(to: descriptor)
        if error == 0 { return 0 }
        vow_platform_set_error(error)
        return VOW_EINVAL
    }
}

/// Calls the body with the graph, and returns its result; VOW_EINVAL: tracing is off; VOW_ENOMEM.
func withGraph(asJSON: Bool, _ body: (inout LineBuffer) -> Int32) -> Int32 {
    var lines = LineBuffer()
    defer { lines.free() }
    let isOn = withTrace { trace in
        trace.table.forEach { trace.catchUp($0) }
        draw(trace, asJSON, into: &lines)
        return true
    }
    if isOn == nil { return VOW_EINVAL }
    return lines.isIncomplete ? VOW_ENOMEM : body(&lines)
}

private func draw(_ trace: Trace, _ asJSON: Bool, into lines: inout LineBuffer) {
    let (table, sites, now) = (trace.table, trace.sites, monotonicNow())
    table.countReaders()
    lines.add { asJSON ? $0.beginJSON(now) : $0.beginDOT() }
    table.forEach { entry in
        if asJSON && entry.kind.isPromise {
            lines.add { $0.appendNode(entry, sites, now) }
        } else if !asJSON && (entry.isPending || entry.kind == .thread) {
            lines.add { $0.appendBox(entry, sites, now) }
        }
    }
    if asJSON {
        lines.add { $0.append("\n],\"threads\":[") }
        table.forEach { entry in
            if entry.kind == .thread { lines.add { $0.appendThread(entry, now) } }
        }
        lines.add { $0.append("\n],\"edges\":[") }
    }
    table.forEach { entry in
        guard entry.waiter != 0, let target = table.target(of: entry) else { return }
        if asJSON && entry.kind != .thread {
            lines.add { $0.appendEdge(from: entry, to: target) }
        } else if !asJSON {
            lines.add { $0.appendArrow(from: entry, to: target) }
        }
    }
    lines.add { $0.append(asJSON ? "\n]}\n" : "}\n") }
}

extension TraceTable {
    fileprivate func countReaders() {
        forEach { $0.pointee.readers = 0 }
        forEach { target(of: $0)?.pointee.readers += 1 }
    }

    /// The pending entry for which another entry waits. An eye's entry stays for a moment after its combined promise
    /// has settled; it has no target then.
    fileprivate func target(of entry: TraceEntryPointer) -> TraceEntryPointer? {
        let it = entry.pointee
        if it.owner != 0, let combined = it.combined, pending(combined, it.owner) == nil {
            return nil
        }
        return it.reads.flatMap { pending($0, it.reads_id) }
    }

    private func pending(_ record: UnsafeRawPointer, _ id: UInt64) -> TraceEntryPointer? {
        guard let found = find(record), found.pointee.id == id,
            found.pointee.state == TraceState.pending
        else { return nil }
        return found
    }
}

extension TraceEntryPointer {
    /// The executor in whose queue the entry is, or where it runs.
    fileprivate var executorNow: UnsafePointer<CChar>? { pointee.has_run == 0 ? executor : nil }

    /// The meaning of the edge to the target.
    fileprivate var edgeName: StaticString {
        if kind == .eye { return "member" }
        return pointee.follows != 0 ? "follows" : "reads"
    }

    /// The id that waits: an eye waits for its combined promise.
    fileprivate var waiter: UInt64 { kind == .eye ? pointee.owner : pointee.id }
}

// JSON.

extension TextBuffer {
    fileprivate mutating func beginJSON(_ now: Int64) {
        append("{")
        field("program", text: vow_platform_program())
        field("time_ns", number: now)
        append(",\"nodes\":[")
    }

    fileprivate mutating func appendNode(_ it: TraceEntryPointer, _ sites: TraceTable, _ now: Int64)
    {
        beginElement()
        field("id", id: it.pointee.id)
        field("address", id: UInt64(UInt(bitPattern: it.pointee.record)))
        field("kind", it.kind.name)
        field("state", TraceState.name(it.pointee.state))
        field("age_ns", number: now &- it.pointee.made)
        field("handlers", number: Int64(it.pointee.readers))
        field("label", text: it.pointee.label)
        field("executor", text: it.executorNow)
        field("site", site: it.pointee.site, sites)
        if it.pointee.progress >= 0 { field("progress", fraction: it.pointee.progress) }
        append("}")
    }

    fileprivate mutating func appendThread(_ it: TraceEntryPointer, _ now: Int64) {
        beginElement()
        field("tid", number: Int64(bitPattern: it.pointee.owner))
        field("awaits", id: it.pointee.reads_id)
        field("age_ns", number: now &- it.pointee.made)
        append("}")
    }

    fileprivate mutating func appendEdge(from it: TraceEntryPointer, to target: TraceEntryPointer) {
        beginElement()
        field("from", id: it.waiter)
        field("to", id: target.pointee.id)
        field("kind", it.edgeName)
        append("}")
    }
}

// DOT.

extension TextBuffer {
    fileprivate mutating func beginDOT() {
        append("digraph vow {\n  rankdir=LR;\n")
        append("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
    }

    /// An entry is bold if it waits for nothing and is on no executor: only the holder of its resolver decides.
    fileprivate mutating func appendBox(_ it: TraceEntryPointer, _ sites: TraceTable, _ now: Int64)
    {
        append("  ")
        append(id: it.pointee.id)
        append(" [label=\"")
        if it.kind == .thread {
            append("thread ")
            append(Int64(bitPattern: it.pointee.owner))
        } else {
            if let label = it.pointee.label {
                append(escaped: label)
                append("\\n")
            }
            append(it.kind.name)
            append(" 0x")
            appendHexadecimal(it.pointee.id)
        }
        append(", ")
        append((now &- it.pointee.made) / 1_000_000)
        append(" ms")
        if let executor = it.executorNow {
            append(", on ")
            append(escaped: executor)
        }
        if let site = it.pointee.site, let name = sites.find(site)?.pointee.label {
            append("\\n")
            append(escaped: name)
        }
        append("\"")
        if it.kind == .thread {
            append(", shape=oval")
        } else if it.pointee.reads == nil && it.executorNow == nil {
            append(", penwidth=2")
        }
        append("];\n")
    }

    fileprivate mutating func appendArrow(from it: TraceEntryPointer, to target: TraceEntryPointer)
    {
        append("  ")
        append(id: it.waiter)
        append(" -> ")
        append(id: target.pointee.id)
        append(it.pointee.follows != 0 ? " [style=dashed];\n" : ";\n")
    }
}
