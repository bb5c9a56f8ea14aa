// The live graph as JSON: nodes, waiting threads, and edges from what waits to what it waits for.

import CVowPlatform

func writeJSON(_ table: TraceTable, _ sites: SiteNames, into text: inout GrowingText) {
    let now = monotonicNow()
    text.add {
        $0.append("{\"program\":")
        $0.appendProgram()
        $0.append(",\"time_ns\":")
        $0.append(now)
        $0.append(",\"nodes\":[")
    }
    var isFirst = true
    var place = 0
    while let entry = table.next(&place) {
        if !entry.pointee.traceKind.isPromise { continue }
        text.add { $0.appendNode(entry.pointee, sites, now, isFirst) }
        isFirst = false
    }
    text.add { $0.append("\n],\"threads\":[") }
    isFirst = true
    place = 0
    while let entry = table.next(&place) {
        if entry.pointee.traceKind != .thread { continue }
        text.add { $0.appendThread(entry.pointee, now, isFirst) }
        isFirst = false
    }
    text.add { $0.append("\n],\"edges\":[") }
    isFirst = true
    place = 0
    while let entry = table.next(&place) {
        let it = entry.pointee
        if it.traceKind == .thread || it.waiter == 0 { continue }
        guard let target = table.target(of: it) else { continue }
        text.add { $0.appendEdge(it, to: target.pointee.id, isFirst) }
        isFirst = false
    }
    text.add { $0.append("\n]}\n") }
}

extension TextBuffer {
    fileprivate mutating func appendNode(
        _ it: TraceEntry, _ sites: SiteNames, _ now: Int64, _ isFirst: Bool
    ) {
        append(isFirst ? "\n{\"id\":" : ",\n{\"id\":")
        append(id: it.id)
        append(",\"address\":\"")
        appendAddress(it.record)
        append("\",\"kind\":\"")
        append(it.traceKind.name)
        append("\",\"state\":\"")
        append(TraceState.name(it.state))
        append("\",\"age_ns\":")
        append(now &- it.made)
        append(",\"handlers\":")
        append(Int64(it.readers))
        if let label = it.label {
            append(",\"label\":")
            append(quoted: label)
        }
        if it.isOnExecutor {
            append(",\"executor\":")
            appendExecutor(of: it)
        }
        if let site = it.site {
            append(",\"site\":")
            appendSite(site, sites)
        }
        if it.progress >= 0 {
            append(",\"progress\":")
            append(fraction: it.progress)
        }
        append("}")
    }

    fileprivate mutating func appendThread(_ it: TraceEntry, _ now: Int64, _ isFirst: Bool) {
        append(isFirst ? "\n{\"tid\":" : ",\n{\"tid\":")
        append(Int64(bitPattern: it.owner))
        append(",\"awaits\":")
        append(id: it.reads_id)
        append(",\"age_ns\":")
        append(now &- it.made)
        append("}")
    }

    fileprivate mutating func appendEdge(_ it: TraceEntry, to id: UInt64, _ isFirst: Bool) {
        append(isFirst ? "\n{\"from\":" : ",\n{\"from\":")
        append(id: it.waiter)
        append(",\"to\":")
        append(id: id)
        append(",\"kind\":\"")
        append(it.edgeName)
        append("\"}")
    }
}
