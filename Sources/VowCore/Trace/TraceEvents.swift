// The events of a history, in Chrome's trace event format: docs/tracing.md lists them.

import CVow
import CVowPlatform

extension Trace {
    @inline(never)
    mutating func introduceThread() {
        if !history.isOpen || vow_platform_is_new_thread(round) == 0 { return }
        var event = history.event("M", nil, "thread_name")
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { name in
            vow_platform_thread_name(name.baseAddress)
            event.field("name", text: name.baseAddress)
        }
        history.end(event)
    }

    /// A settled promise, from its making on. The value is borrowed; nil: it is too late to look at it.
    mutating func writeSettled(_ promise: TraceEntryPointer, _ value: vow_value?) {
        if !history.isOpen { return }
        let it = promise.pointee
        let state = TraceState.name(it.state)
        writeBegin(promise)
        var end = history.event("e", of: promise, by: it.settled_by, at: it.settled)
        end.field("state", state)
        if let value {
            if value.isError { end.fieldError(value) }
            end.fieldValue(value, inFull: history.showsValues)
        }
        history.end(end)
        var slice = history.event(
            "X", "settle", "settle ", of: promise, by: it.settled_by, at: it.settled,
            until: it.settled + 1)
        slice.field("state", state)
        history.end(slice)
    }

    /// A promise that is freed unsettled.
    mutating func writeReleased(_ promise: TraceEntryPointer) {
        writeBegin(promise)
        var event = history.event("e", of: promise, at: monotonicNow())
        event.field("state", "released")
        history.end(event)
    }

    private mutating func writeBegin(_ promise: TraceEntryPointer) {
        let it = promise.pointee
        var event = history.event("b", of: promise, by: it.made_by, at: it.made)
        event.field("kind", promise.kind.name)
        event.field("label", text: it.label)
        event.field("site", site: it.site, sites)
        event.field("reads", id: it.reads_at_first)
        event.field("executor", text: promise.executor)
        history.end(event)
    }

    /// A new fact about a pending promise: `waits`, `follows`.
    mutating func writeEdge(_ name: StaticString, from id: UInt64, to other: UInt64) {
        var event = history.event("n", "promise", name, id: id, at: monotonicNow())
        event.field("on", id: other)
        history.end(event)
    }

    mutating func writeProgress(of id: UInt64, _ fraction: Double, _ text: UnsafePointer<CChar>?) {
        var event = history.event("n", "promise", "progress", id: id, at: monotonicNow())
        event.field("fraction", fraction: fraction)
        event.field("note", text: text)
        history.end(event)
    }

    mutating func writeCancelled(_ promise: TraceEntryPointer) {
        let event = history.event("i", "cancel", "cancel ", of: promise, at: monotonicNow())
        history.end(event)
    }

    /// The arrow from the settling of a promise to the run of the handler that reads it.
    mutating func writeFlow(from source: TraceEntryPointer, to id: UInt64, at began: Int64) {
        let it = source.pointee
        let start = history.event("s", "flow", "settled", id: id, by: it.settled_by, at: it.settled)
        history.end(start)
        // Bound to the slice that encloses it, not to the next one.
        let finish = history.event("f\",\"bp\":\"e", "flow", "settled", id: id, at: began)
        history.end(finish)
    }

    mutating func writeRun(_ run: TracedRun, of reaction: TraceEntryPointer) {
        let now = monotonicNow()
        var event = history.event("X", "handler", of: reaction, at: run.began, until: now)
        event.field("reads", id: run.reads)
        event.field("executor", text: reaction.executor)
        history.end(event)
    }

    mutating func writeWait(for promise: TraceEntryPointer, since began: Int64) {
        let now = monotonicNow()
        let event = history.event("X", "await", "await ", of: promise, at: began, until: now)
        history.end(event)
    }

    /// At most one a millisecond.
    mutating func writeCountersIfDue() {
        if !history.isOpen { return }
        let now = monotonicNow()
        if now &- history.lastCounters >= 1_000_000 { writeCounters(at: now) }
    }

    private mutating func writeCounters(at now: Int64) {
        history.lastCounters = now
        var event = history.event("C", nil, "promises", by: 0, at: now)
        event.field("live", number: live)
        event.field("pending", number: pending)
        history.end(event)
    }

    /// The promises that are pending when the history ends.
    mutating func writeEnd() {
        table.forEach { entry in
            catchUp(entry)
            if entry.isPending { writeBegin(entry) }
        }
        writeCounters(at: monotonicNow())
        history.end()
    }
}

extension History {
    /// Begins an event, and its arguments with the promise that it is about, unless the event is on the promise's track.
    /// Text added to an event without room is lost.
    /// - Parameters:
    ///   - name: the text before the label or kind of `promise`, if there is one.
    ///   - id: of a track; 0: the event is on its thread's.
    @inline(never)
    mutating func event(
        _ phase: StaticString, _ category: StaticString?, _ name: StaticString = "",
        of promise: TraceEntryPointer? = nil, id: UInt64 = 0,
        by thread: Int32 = vow_platform_thread_number(), at began: Int64? = nil,
        until ended: Int64? = nil, keeping kept: Int = 2
    ) -> TextBuffer {
        guard var text = begin(keeping: kept) else { return TextBuffer(nil, capacity: 0) }
        text.beginElement()
        text.field("ph", phase)
        if let category { text.field("cat", category) }
        text.field("id", id: id)
        text.field("name", name, of: promise)
        text.field("pid", number: Int64(vow_platform_process_number()))
        text.field("tid", number: Int64(thread))
        if let began {
            text.field("ts", microseconds: began)
            if let ended { text.field("dur", microseconds: ended &- began) }
        }
        text.key("args")
        text.append("{")
        if let promise, id == 0 { text.field("promise", id: promise.pointee.id) }
        return text
    }

    /// An event on the track of a promise.
    fileprivate mutating func event(
        _ phase: StaticString, of promise: TraceEntryPointer,
        by thread: Int32 = vow_platform_thread_number(), at moment: Int64
    ) -> TextBuffer {
        event(phase, "promise", of: promise, id: promise.pointee.id, by: thread, at: moment)
    }
}

extension TextBuffer {
    fileprivate mutating func field(
        _ key: StaticString, _ name: StaticString, of promise: TraceEntryPointer?
    ) {
        self.key(key)
        append("\"")
        append(name)
        if let label = promise?.pointee.label {
            append(escaped: label)
        } else if let promise {
            append(promise.kind.name)
        }
        append("\"")
    }

    fileprivate mutating func field(_ key: StaticString, microseconds nanoseconds: Int64) {
        self.key(key)
        append(nanoseconds, decimals: 3)
    }

    /// From 0 to 1.
    mutating func field(_ key: StaticString, fraction: Double) {
        self.key(key)
        append(Int64(fraction * 1_000_000_000 + 0.5), decimals: 9)
    }

    /// Nil: the object has no such field.
    mutating func field(_ key: StaticString, site: UnsafeRawPointer?, _ names: TraceTable) {
        guard let site else { return }
        self.key(key)
        appendSite(site, names)
    }

    mutating func appendSite(_ site: UnsafeRawPointer, _ names: TraceTable) {
        guard let name = names.find(site)?.pointee.label else {
            return append(id: UInt64(UInt(bitPattern: site)))
        }
        append("\"")
        append(escaped: name)
        append("\"")
    }

    /// The first hundred bytes or so; a content, which may be a password, only if the program asks for it.
    fileprivate mutating func fieldValue(_ value: vow_value, inFull: Bool) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 120) { description in
            var text = TextBuffer(description)
            if inFull { describe(value, into: &text) } else { describeKind(of: value, into: &text) }
            field("value", text: description.baseAddress)
        }
    }

    /// "VOW_ETIMEDOUT", or "domain 17".
    fileprivate mutating func fieldError(_ value: vow_value) {
        guard let box = value.box, let made = box.isLate ? box.alreadyMade : box else { return }
        let error = made.part(ErrorPart.self).pointee
        key("error")
        append("\"")
        if strcmp(made.domain, "vow") == 0 {
            append(nameOfError(error.code))
        } else {
            append(escaped: made.domain, min(error.domainLength, 80))
            append(" ")
            append(error.code)
        }
        append("\"")
    }
}
