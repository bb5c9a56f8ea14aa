// The file of a history, in Chrome's trace event format: an object with each event on a line of its own, so the file of
// a killed program can be read up to its last line. docs/tracing.md describes the events.
//
// No thread waits for the reader. Bytes that a pipe does not take stay in the buffer. An event that finds no room there
// is left out and counted, and the next event that finds room is preceded by the count. No thread of its own writes the
// file: see docs/decisions/0015-history-files.md. `traceLock` guards all of it while tracing is on; while tracing
// begins or ends, the thread that has set `isChanging` has it alone.

import CVow
import CVowPlatform

struct History {
    /// -1: none.
    private var descriptor: Int32 = -1
    private var lines = LineBuffer(limit: 1 << 18)
    private var pace = Pace()
    /// An errno: the disk is full, or the reader has gone. The history ends there: text after a gap within a line could
    /// not be read.
    private var failure: Int32 = 0
    /// Events that will not be in the file, and the reason for the last of them: an errno.
    private(set) var missing: UInt64 = 0
    private var reason: Int32 = 0
    /// The missing events that the file does not tell of yet.
    private var untold: UInt64 = 0
    private var news = News.none
    private var hasDropped = false
    /// The history has the contents of values, and not only their kind and length.
    private(set) var showsValues = false
    var lastCounters: Int64 = 0

    /// The news for standard error, once each.
    private enum News { case none, dropping, broken }

    /// A write is tried when this many bytes have come, at the latest.
    private static let most = 1 << 15
    /// The end waits this long for a reader that takes nothing.
    private static let patience: Int64 = 1_000_000_000

    var isOpen: Bool { descriptor >= 0 }
    /// The reason for missing events: an errno.
    var error: Int32 { failure != 0 ? failure : reason }

    /// Makes the file, and writes its beginning. Returns 0, or an errno: then there is no file.
    mutating func open(_ path: UnsafePointer<CChar>, isInherited: Bool) -> Int32 {
        if !lines.grow(to: lines.room) { return ENOMEM }
        var isOther: Int32 = 0
        descriptor = vow_platform_create_trace(path, isInherited ? 1 : 0, &isOther)
        if isOpen {
            showsValues = isAskedFor("VOW_TRACE_VALUES")
            writeHead()
            writeOut()
            if failure != 0 { vow_platform_discard_trace(descriptor) }
        } else {
            failure = vow_platform_error()
        }
        if failure != 0 {
            descriptor = -1
            lines.free()
        } else if isOther != 0 {
            warn {
                $0.append(text: path)
                $0.append(" is another process's; this one writes ")
                $0.append(text: vow_platform_trace_name())
            }
        }
        return failure
    }

    /// A place for one event, if there is room for it and `kept` more lines: the last lines are for the count of
    /// missing events, and for the end. Nil: the event is left out.
    @inline(never)
    mutating func begin(keeping kept: Int) -> TextBuffer? {
        if !isOpen { return nil }
        let needed = (kept + 1) * LineBuffer.longestLine
        if lines.room < needed { writeOut() }
        if lines.room < needed || failure != 0 {
            if failure == 0 && !hasDropped { news = .dropping }
            hasDropped = true
            leaveOut(for: EAGAIN)
            return nil
        }
        if untold > 0 { tellMissing() }
        return lines.begin()
    }

    /// Ends an event and its arguments.
    @inline(never)
    mutating func end(_ event: TextBuffer) {
        var event = event
        event.append("}}")
        lines.end(event)
    }

    mutating func leaveOut(for reason: Int32) {
        missing += 1
        untold += 1
        self.reason = reason
    }

    private mutating func tellMissing() {
        let events = untold
        untold = 0
        var event = event("i", "dropped", "events dropped", at: monotonicNow(), keeping: 1)
        event.field("events", number: Int64(events))
        end(event)
    }

    /// After each note, which may have added events. True: there is news.
    @inline(never)
    mutating func writeIfDue() -> Bool {
        if !isOpen { return false }
        if !lines.isEmpty && (lines.count >= History.most || pace.allows(at: monotonicNow())) {
            writeOut()
        }
        return news != .none
    }

    /// The last line.
    mutating func end() {
        if failure != 0 { return }
        if untold > 0 { tellMissing() }
        lines.add { $0.append("\n]}\n") }
        writeOut()
    }

    /// Waits, not for ever, until the reader has taken the rest. On a copy, without the lock.
    mutating func drain() {
        let deadline = monotonicNow() &+ History.patience
        while failure == 0 && !lines.isEmpty && monotonicNow() < deadline {
            _ = vow_platform_takes_line(descriptor, 20)
            writeOut()
        }
        if lines.isEmpty { return }
        missing += lines.elements
        reason = EAGAIN
        if !hasDropped { news = .dropping }
        lines.removeAll()
    }

    /// Also frees the memory of a history that `abandon` has ended.
    mutating func close() {
        abandon()
        lines.free()
    }

    /// In a forked child, whose parent goes on writing: the memory is kept for the next trace.
    mutating func abandon() {
        if isOpen { vow_platform_close(descriptor) }
        descriptor = -1
    }

    private mutating func writeHead() {
        lines.add { text in
            text.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"vow ")
            text.append(Int64(VOW_VERSION_MAJOR))
            text.append(".")
            text.append(Int64(VOW_VERSION_MINOR))
            text.append(".")
            text.append(Int64(VOW_VERSION_PATCH))
            text.append("\"")
            text.field("clock", "monotonic")
            // A process that looks for the writer of this file reads no further.
            text.field("process", number: Int64(vow_platform_process_number()))
            text.field("process_start", number: vow_platform_process_start())
            text.field("program", text: vow_platform_program())
            text.append("},\"traceEvents\":[")
        }
        var event = event("M", nil, "process_name", by: 0)
        event.field("name", text: vow_platform_program())
        end(event)
    }

    @inline(never)
    private mutating func writeOut() {
        if failure != 0 { return }
        let error = lines.write(to: descriptor)
        if error == 0 || error == EAGAIN { return }
        failure = error
        missing += lines.elements
        lines.removeAll()
        news = .broken
    }
}

/// The pace of writes: at once for each event while there are few, so a program that is killed leaves all its events;
/// once a millisecond when there are many.
private struct Pace {
    private static let most: Int64 = 256
    private static let interval: Int64 = 1_000_000
    private var left = Pace.most
    private var counted: Int64 = 0

    mutating func allows(at now: Int64) -> Bool {
        let come = (now &- counted) / Pace.interval
        if come > 0 {
            left = min(Pace.most, left &+ come)
            counted = now
        }
        if left == 0 { return false }
        left -= 1
        return true
    }
}

// Lines on standard error: never under the lock, and not to a full pipe, whose reader may be the slow one.

extension History {
    mutating func appendNews(to text: inout TextBuffer) {
        switch news {
        case .none: return
        case .dropping:
            text.append("who reads ")
            text.append(text: vow_platform_trace_name())
            text.append(" is slow: events are dropped")
        case .broken:
            text.append("cannot write ")
            text.append(text: vow_platform_trace_name())
            text.append(": ")
            text.append(error: failure)
            text.append("; its history ends there")
        }
        news = .none
    }

    /// Called on a copy of a history that has ended.
    mutating func warnOfMissing() {
        warn { appendNews(to: &$0) }
        if missing == 0 || failure != 0 { return }
        warn {
            $0.append(Int64(missing))
            $0.append(" events are not in ")
            $0.append(text: vow_platform_trace_name())
        }
    }
}

/// Called after a note, without the lock.
@inline(never)
func sayTraceNews() {
    warn { text in
        traceLock.withLock {
            if trace.isOn { trace.history.appendNews(to: &text) }
        }
    }
}

/// Writes the line that the body appends, unless it is empty.
func warn(_ beginning: StaticString = "vow: trace: ", _ body: (inout TextBuffer) -> Void) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        text.append(beginning)
        let nothing = text.length
        body(&text)
        if text.length > nothing && vow_platform_takes_line(2, 0) != 0 { writeLine(text) }
    }
}

extension TextBuffer {
    mutating func append(text: UnsafePointer<CChar>?) {
        if let text { append(text, strlen(text)) }
    }

    mutating func append(error: Int32) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { reason in
            vow_platform_describe_error(error, reason.baseAddress!, 128)
            append(text: reason.baseAddress)
        }
    }
}
