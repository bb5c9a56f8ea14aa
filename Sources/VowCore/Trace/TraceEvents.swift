// The events of a trace's history, as lines of the file.

import CVow
import CVowPlatform

/// What a handler's run is known by while it lasts.
struct TracedRun {
    let began: Int64
    let id: UInt64
    let reads: UInt64
}

extension Trace {
    mutating func introduceProcess() {
        file.event { text in
            text.append("\"ph\":\"M\",\"name\":\"process_name\"")
            text.appendPlace(thread: 0)
            text.append(",\"args\":{\"name\":")
            text.appendProgram()
            text.append("}")
        }
    }

    mutating func introduceThread() {
        if !file.isOpen || vow_platform_is_new_thread(round) == 0 { return }
        file.event { text in
            text.append("\"ph\":\"M\",\"name\":\"thread_name\"")
            text.appendPlace()
            text.append(",\"args\":{\"name\":")
            withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { name in
                guard let name = name.baseAddress else { return }
                vow_platform_thread_name(name)
                text.append(quoted: name)
            }
            text.append("}")
        }
    }

    /// A promise that is settled with a value (borrowed; nil: it is too late to look at it), from its making on.
    mutating func writeLife(of entry: TraceEntryPointer, _ value: vow_value?) {
        if !file.isOpen { return }
        let it = entry.pointee
        writeBegin(it)
        let showsValues = showsValues
        file.event { text in
            text.appendAsync("e", it, at: it.settled, by: it.settled_by)
            text.append(",\"args\":{\"state\":\"")
            text.append(TraceState.name(it.state))
            text.append("\"")
            if let value {
                if value.isError { text.appendErrorName(value) }
                text.append(",\"value\":")
                text.appendDescription(of: value, inFull: showsValues)
            }
            text.append("}")
        }
        file.event { text in
            text.append("\"ph\":\"X\",\"cat\":\"settle\",\"name\":")
            text.appendName(of: it, after: "settle ")
            text.appendPlace(thread: it.settled_by, at: it.settled)
            text.append(",\"dur\":0.001,\"args\":{\"promise\":")
            text.append(id: it.id)
            text.append(",\"state\":\"")
            text.append(TraceState.name(it.state))
            text.append("\"}")
        }
    }

    /// One that is freed unsettled.
    mutating func writeRelease(of entry: TraceEntryPointer) {
        if !file.isOpen { return }
        let it = entry.pointee
        writeBegin(it)
        file.event { text in
            text.appendAsync("e", it, at: monotonicNow(), by: vow_platform_thread_number())
            text.append(",\"args\":{\"state\":\"released\"}")
        }
    }

    /// One that is not settled when the history ends.
    mutating func writePending(_ entry: TraceEntryPointer) {
        let it = entry.pointee
        if it.traceKind.isPromise && it.state == TraceState.pending { writeBegin(it) }
    }

    @inline(never)
    private mutating func writeBegin(_ it: TraceEntry) {
        let names = sites
        file.event { text in
            text.appendAsync("b", it, at: it.made, by: it.made_by)
            text.append(",\"args\":{\"kind\":\"")
            text.append(it.traceKind.name)
            text.append("\"")
            if let label = it.label {
                text.append(",\"label\":")
                text.append(quoted: label)
            }
            if let site = it.site {
                text.append(",\"site\":")
                text.appendSite(site, names)
            }
            text.appendReading(it.reads_at_first, on: it)
        }
    }

    /// What becomes known of a pending promise: `waits`, `follows`.
    mutating func writeEdge(_ name: StaticString, from id: UInt64, to other: UInt64) {
        file.event { text in
            text.appendInstant(name, of: id)
            text.append(",\"args\":{\"on\":")
            text.append(id: other)
            text.append("}")
        }
    }

    mutating func writeProgress(of id: UInt64, _ fraction: Double, _ note: UnsafePointer<CChar>?) {
        file.event { text in
            text.appendInstant("progress", of: id)
            text.append(",\"args\":{\"fraction\":")
            text.append(fraction: fraction)
            if let note {
                text.append(",\"note\":")
                text.append(quoted: note, min(strlen(note), longestLabel))
            }
            text.append("}")
        }
    }

    mutating func writeCancel(_ it: TraceEntry) {
        file.event { text in
            text.append("\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cancel\",\"name\":")
            text.appendName(of: it, after: "cancel ")
            text.appendPlace(at: monotonicNow())
            text.append(",\"args\":{\"promise\":")
            text.append(id: it.id)
            text.append("}")
        }
    }

    /// The arrow from the settling of what a handler reads to its beginning.
    mutating func writeFlow(to id: UInt64, at began: Int64, from source: TraceEntry) {
        let here = vow_platform_thread_number()
        file.event { text in
            text.appendFlow("\"ph\":\"s\"", id, at: source.settled, by: source.settled_by)
        }
        file.event { text in
            text.appendFlow("\"ph\":\"f\",\"bp\":\"e\"", id, at: began, by: here)
        }
    }

    mutating func writeRun(_ run: TracedRun, _ it: TraceEntry, until ended: Int64) {
        file.event { text in
            text.append("\"ph\":\"X\",\"cat\":\"handler\",\"name\":")
            text.appendName(of: it)
            text.appendPlace(at: run.began, until: ended)
            text.append(",\"args\":{\"promise\":")
            text.append(id: run.id)
            text.appendReading(run.reads, on: it)
        }
    }

    mutating func writeWait(for it: TraceEntry, from began: Int64, until ended: Int64) {
        file.event { text in
            text.append("\"ph\":\"X\",\"cat\":\"await\",\"name\":")
            text.appendName(of: it, after: "await ")
            text.appendPlace(at: began, until: ended)
            text.append(",\"args\":{\"promise\":")
            text.append(id: it.id)
            text.append("}")
        }
    }

    /// At most one a millisecond.
    mutating func writeCountersIfDue() {
        if !file.isOpen { return }
        let now = monotonicNow()
        if now &- lastCounters >= 1_000_000 { writeCounters(at: now) }
    }

    mutating func writeCounters(at now: Int64) {
        lastCounters = now
        let (live, pending) = (live, pending)
        file.event { text in
            text.append("\"ph\":\"C\",\"name\":\"promises\"")
            text.appendPlace(thread: 0, at: now)
            text.append(",\"args\":{\"live\":")
            text.append(live)
            text.append(",\"pending\":")
            text.append(pending)
            text.append("}")
        }
    }
}

extension TextBuffer {
    /// Between quotation marks.
    mutating func appendProgram() {
        let program = vow_platform_program()!
        append(quoted: program, min(strlen(program), longestLabel))
    }

    /// Process and thread, and when that was.
    mutating func appendPlace(
        thread: Int32 = vow_platform_thread_number(), at moment: Int64? = nil,
        until end: Int64? = nil
    ) {
        append(",\"pid\":")
        append(Int64(vow_platform_process_number()))
        append(",\"tid\":")
        append(Int64(thread))
        guard let moment else { return }
        append(",\"ts\":")
        append(microseconds: moment)
        guard let end else { return }
        append(",\"dur\":")
        append(microseconds: end &- moment)
    }

    fileprivate mutating func appendAsync(
        _ phase: StaticString, _ it: TraceEntry, at moment: Int64, by thread: Int32
    ) {
        append("\"ph\":\"")
        append(phase)
        append("\",\"cat\":\"promise\",\"id\":")
        append(id: it.id)
        append(",\"name\":")
        appendName(of: it)
        appendPlace(thread: thread, at: moment)
    }

    fileprivate mutating func appendInstant(_ name: StaticString, of id: UInt64) {
        append("\"ph\":\"n\",\"cat\":\"promise\",\"id\":")
        append(id: id)
        append(",\"name\":\"")
        append(name)
        append("\"")
        appendPlace(at: monotonicNow())
    }

    fileprivate mutating func appendFlow(
        _ phase: StaticString, _ id: UInt64, at moment: Int64, by thread: Int32
    ) {
        append(phase)
        append(",\"cat\":\"flow\",\"name\":\"settled\",\"id\":")
        append(id: id)
        appendPlace(thread: thread, at: moment)
    }

    /// The end of an event: what it reads, and where.
    fileprivate mutating func appendReading(_ reads: UInt64, on it: TraceEntry) {
        if reads != 0 {
            append(",\"reads\":")
            append(id: reads)
        }
        if it.executor.0 != 0 {
            append(",\"executor\":")
            appendExecutor(of: it)
        }
        append("}")
    }

    /// The label, else the kind.
    fileprivate mutating func appendName(of it: TraceEntry, after prefix: StaticString = "") {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestLabel + 16) { name in
            var text = TextBuffer(name)
            text.append(prefix)
            if let label = it.label {
                text.append(label, strlen(label))
            } else {
                text.append(it.traceKind.name)
            }
            text.withText { append(quoted: $0, $1) }
        }
    }

    mutating func appendSite(_ site: UnsafeRawPointer, _ names: SiteNames) {
        if let name = names.find(site) {
            append(quoted: name)
        } else {
            append(id: UInt64(UInt(bitPattern: site)))
        }
    }

    mutating func appendExecutor(of it: TraceEntry) {
        it.withExecutorName { append(quoted: $0) }
    }

    /// The first hundred bytes or so; what it holds only where that is asked for, as it may be a password.
    fileprivate mutating func appendDescription(of value: vow_value, inFull: Bool) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 120) { description in
            var text = TextBuffer(description)
            if inFull { describe(value, into: &text) } else { describeKind(of: value, into: &text) }
            text.withText { append(quoted: $0, $1) }
        }
    }

    /// "VOW_ETIMEDOUT", or "domain 17".
    fileprivate mutating func appendErrorName(_ value: vow_value) {
        guard var box = value.box else { return }
        if box.isLate {
            guard let made = box.alreadyMade else { return }
            box = made
        }
        let error = box.part(ErrorPart.self).pointee
        append(",\"error\":")
        if strcmp(box.domain, "vow") == 0 {
            append("\"")
            append(nameOfError(error.code))
            append("\"")
            return
        }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 120) { name in
            var text = TextBuffer(name)
            text.append(box.domain, min(error.domainLength, 80))
            text.append(" ")
            text.append(error.code)
            text.withText { append(quoted: $0, $1) }
        }
    }
}
