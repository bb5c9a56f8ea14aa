// The file of a history, in Chrome's trace event format: an object whose events stand one on a line, so that what a
// killed program has left can be read up to there. docs/tracing.md describes the events.
//
// No thread waits for the reader. What a pipe does not take stays in the buffer, and an event that finds no room there
// is left out and counted; the next one that finds room says how many. No thread of its own writes the file: see
// docs/decisions/0015-history-files.md. `traceLock` guards all of it while tracing is on; while it begins or ends, the
// thread that has set `isChanging` has it alone.

import CVow
import CVowPlatform

struct History {
    /// -1: none.
    private var descriptor: Int32 = -1
    private var lines = LineBuffer(limit: 1 << 18)
    private var pace = Pace()
    /// An errno: the disk is full, the reader has gone. The history ends there: what came after a gap in the middle of
    /// a line could not be read.
    private var failure: Int32 = 0
    /// Events that are not in the file and will not be, and why the last of them is not: an errno.
    private(set) var missing: UInt64 = 0
    private var reason: Int32 = 0
    /// So many of them are still to be told in the file.
    private var untold: UInt64 = 0
    private var news = News.none
    private var hasDropped = false
    /// The history has what values hold, and not only their kind and length.
    private(set) var showsValues = false
    var lastCounters: Int64 = 0

    /// What is to be said on standard error, once each.
    private enum News { case none, dropping, broken }

    /// At the latest when so many bytes have come a write is tried.
    private static let most = 1 << 15
    /// So long the end waits for a reader that takes nothing.
    private static let patience: Int64 = 1_000_000_000

    var isOpen: Bool { descriptor >= 0 }
    /// Why events are missing: an errno.
    var error: Int32 { failure != 0 ? failure : reason }

    /// Makes the file, and writes its beginning. Returns 0, or an errno: then there is none.
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

    /// A place for one event, if there is room for it and so many more lines: the last ones are for what tells of
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

    /// After each note, which may have added events. True: something is to be said.
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

    /// Waits, not for ever, until the reader has taken the rest. Not under the lock: of a copy.
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

    /// Of a history that `abandon` has ended it frees what that has left.
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

/// When to write: each event at once while there are few of them, so that a program that ends without a word leaves
/// all it has done; and once a millisecond when there are many.
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

// What is said on standard error: never under the lock, and not at all where that is a pipe which is full, as it may be
// the very one whose reader is slow.

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

    /// Of a history that has ended, which nobody else has any more.
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

/// After a note that has left the lock.
@inline(never)
func sayTraceNews() {
    warn { text in
        traceLock.withLock {
            if trace.isOn { trace.history.appendNews(to: &text) }
        }
    }
}

/// Writes a line of what the body appends, unless that is nothing.
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
