// The live graph for Graphviz: what is pending, with arrows from what waits to what it waits for.

import CVowPlatform

func writeDOT(_ table: TraceTable, _ sites: SiteNames, into text: inout GrowingText) {
    let now = monotonicNow()
    text.add {
        $0.append("digraph vow {\n")
        $0.append("  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
    }
    var place = 0
    while let entry = table.next(&place) {
        let it = entry.pointee
        if it.traceKind == .eye || (it.traceKind.isPromise && it.state != TraceState.pending) {
            continue
        }
        text.add { $0.appendNode(it, sites, now) }
    }
    place = 0
    while let entry = table.next(&place) {
        let it = entry.pointee
        guard it.waiter != 0, let target = table.target(of: it) else { continue }
        text.add { $0.appendEdge(it, to: target.pointee.id) }
    }
    text.add { $0.append("}\n") }
}

extension TextBuffer {
    /// Nobody decides about what waits for nothing and runs nowhere but who has its resolver: it is drawn bold.
    fileprivate mutating func appendNode(_ it: TraceEntry, _ sites: SiteNames, _ now: Int64) {
        append("  \"")
        appendAddress(UnsafeRawPointer(bitPattern: UInt(it.id)))
        append("\" [label=")
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { label in
            var lines = TextBuffer(label)
            lines.appendLabel(of: it, sites, now)
            lines.withText { append(quoted: $0, $1) }
        }
        if it.traceKind == .thread {
            append(", shape=oval")
        } else if it.reads == nil && !it.isOnExecutor {
            append(", penwidth=2")
        }
        append("];\n")
    }

    private mutating func appendLabel(of it: TraceEntry, _ sites: SiteNames, _ now: Int64) {
        if it.traceKind == .thread {
            append("thread ")
            append(Int64(bitPattern: it.owner))
        } else {
            if let label = it.label {
                append(label, strlen(label))
                append("\n")
            }
            append(it.traceKind.name)
            append(" ")
            appendAddress(UnsafeRawPointer(bitPattern: UInt(it.id)))
        }
        append(", ")
        append((now &- it.made) / 1_000_000)
        append(" ms")
        if it.isOnExecutor {
            append(", on ")
            it.withExecutorName { append($0, strlen($0)) }
        }
        if let site = it.site, let name = sites.find(site) {
            append("\n")
            append(name, strlen(name))
        }
    }

    fileprivate mutating func appendEdge(_ it: TraceEntry, to id: UInt64) {
        append("  \"")
        appendAddress(UnsafeRawPointer(bitPattern: UInt(it.waiter)))
        append("\" -> \"")
        appendAddress(UnsafeRawPointer(bitPattern: UInt(id)))
        append(it.follows != 0 ? "\" [style=dashed];\n" : "\";\n")
    }
}
