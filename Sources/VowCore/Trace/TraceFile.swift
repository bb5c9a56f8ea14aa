// The file that a trace's history goes to. All under the tracing's lock, but for the end.
//
// Chrome's trace event format: an object whose events stand one on a line, so that what a program that was killed
// has left can be read up to there. docs/tracing.md describes the events.
//
// Nobody waits for who reads it. What a pipe does not take stays in the buffer, and what finds no room there is left
// out and counted; the next event that finds room says how many. No thread of its own writes the file: see
// docs/decisions/0015-history-files.md.

import CVow
import CVowPlatform

struct TraceFile {
    /// -1: none.
    private(set) var descriptor: Int32 = -1
    /// What it is called, for what is said on standard error.
    private(set) var name: UnsafeMutablePointer<CChar>?
    private var buffer = TraceBuffer()
    private var pace = TracePace()
    private var hasEvents = false
    /// An errno: the disk is full, the reader has gone. The history ends there: what came after a gap in the middle of
    /// a line could not be read.
    private(set) var failure: Int32 = 0
    /// Events that are not in the file, and will not be; why the last of them is not: an errno.
    private(set) var missing: UInt64 = 0
    private(set) var reason: Int32 = 0
    /// So many of them are still to be told in the file.
    private var untold: UInt64 = 0
    /// The descriptor took less than there was.
    private var isBehind = false
    /// Bytes of events since the last write was tried.
    private var owed = 0
    /// What is to be said on standard error, once each.
    var news = TraceNews()

    /// At the latest when so much has come it is tried to write.
    private static let most = 1 << 15
    private static let longestLine = 4096
    /// Kept for two events that tell what is missing, and for the last line.
    private static let kept = 512
    /// So long the end waits for a reader who takes nothing.
    private static let patience: Int64 = 1_000_000_000

    var isOpen: Bool { descriptor >= 0 }

    /// Takes an open descriptor and its name. Returns an errno where it cannot be written, and takes nothing then.
    mutating func open(_ file: Int32, _ name: UnsafeMutablePointer<CChar>) -> Int32 {
        if !buffer.open() { return ENOMEM }
        freeName()
        descriptor = file
        pace = TracePace()
        hasEvents = false
        failure = 0
        missing = 0
        untold = 0
        isBehind = false
        news = TraceNews()
        writeHead()
        writeOut()
        if failure != 0 {
            descriptor = -1
            buffer.free()
            return failure
        }
        self.name = name
        return 0
    }

    /// One event: `body` writes what stands between the braces.
    mutating func event(_ body: (inout TextBuffer) -> Void) {
        if isOpen && hasRoom() { add(TraceFile.longestLine, body) }
    }

    /// After each note, which may have added events. True: something is to be said.
    @inline(never)
    mutating func endNote() -> Bool {
        if !isOpen { return false }
        if !buffer.isEmpty && (owed >= TraceFile.most || pace.allows(at: monotonicNow())) {
            writeOut()
        }
        return news.isToBeSaid
    }

    /// The last line.
    mutating func end() {
        if failure != 0 { return }
        if untold > 0 { tellMissing() }
        if var text = buffer.beginText(8) {
            text.append("\n]}\n")
            _ = buffer.endText(text)
        }
        writeOut()
    }

    /// Waits, not for ever, until the reader has taken the rest. Not under the lock: of a copy.
    mutating func drain() {
        let deadline = monotonicNow() &+ TraceFile.patience
        while failure == 0 && !buffer.isEmpty && monotonicNow() < deadline {
            _ = vow_platform_takes_line(descriptor, 20)
            writeOut()
        }
        if buffer.isEmpty { return }
        missing += buffer.events
        reason = EAGAIN
        buffer.removeAll()
        news.notice(.isDropping)
    }

    mutating func close() {
        if !isOpen { return }
        vow_platform_close(descriptor)
        descriptor = -1
        buffer.free()
        freeName()
    }

    /// Without a word: in a forked child, whose parent goes on writing. The memory is kept for the next trace.
    mutating func abandon() {
        if !isOpen { return }
        vow_platform_close(descriptor)
        descriptor = -1
    }

    private mutating func freeName() {
        if let name { freeMemory(name, Int(VOW_TRACE_PATH_SIZE)) }
        name = nil
    }

    private mutating func writeHead() {
        guard var text = buffer.beginText(TraceFile.longestLine) else { return }
        text.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"vow ")
        text.appendVersion()
        // A reader that looks for the process which has written this reads no further.
        text.append("\",\"clock\":\"monotonic\",\"process\":")
        text.append(Int64(vow_platform_process_number()))
        text.append(",\"process_start\":")
        text.append(vow_platform_process_start())
        text.append(",\"program\":")
        text.appendProgram()
        text.append("},\"traceEvents\":[")
        _ = buffer.endText(text)
    }

    /// Whether an event is to be made at all; if not, it is counted.
    @inline(never)
    private mutating func hasRoom() -> Bool {
        let needed = TraceFile.longestLine + TraceFile.kept
        if buffer.room < needed && !isBehind { writeOut() }
        if buffer.room < needed || failure != 0 {
            owed += TraceFile.longestLine / 16
            leaveOut(for: EAGAIN)
            if failure == 0 { news.notice(.isDropping) }
            return false
        }
        if untold > 0 { tellMissing() }
        return true
    }

    @inline(never)
    mutating func leaveOut(for reason: Int32) {
        missing += 1
        untold += 1
        self.reason = reason
    }

    /// Where there was no room before and there is now.
    @inline(never)
    private mutating func tellMissing() {
        let events = Int64(untold)
        add(256) { text in
            text.append("\"ph\":\"i\",\"s\":\"p\",\"cat\":\"dropped\"")
            text.append(",\"name\":\"events dropped\"")
            text.appendPlace(at: monotonicNow())
            text.append(",\"args\":{\"events\":")
            text.append(events)
            text.append("}")
        }
        untold = 0
    }

    /// An event on a line for which there is room. What was cut is no JSON; labels and sites are too short for that.
    @inline(__always)
    private mutating func add(_ most: Int, _ body: (inout TextBuffer) -> Void) {
        guard var text = beginEvent(most) else { return }
        body(&text)
        endEvent(&text)
    }

    @inline(never)
    private mutating func beginEvent(_ most: Int) -> TextBuffer? {
        guard var text = buffer.beginText(most) else {
            leaveOut(for: EAGAIN)
            return nil
        }
        text.append(hasEvents ? ",\n{" : "\n{")
        return text
    }

    @inline(never)
    private mutating func endEvent(_ text: inout TextBuffer) {
        text.append("}")
        let added = buffer.endText(text)
        if added == 0 { leaveOut(for: EAGAIN) }
        hasEvents = hasEvents || added > 0
        owed += added
    }

    @inline(never)
    private mutating func writeOut() {
        owed = 0
        if failure != 0 { return }
        let descriptor = descriptor
        var error: Int32 = 0
        buffer.take { vow_platform_write_some(descriptor, $0, $1, &error) }
        isBehind = error == EAGAIN
        if error == 0 || isBehind { return }
        failure = error
        missing += buffer.events
        buffer.removeAll()
        news.notice(.isBroken)
    }
}

extension TextBuffer {
    fileprivate mutating func appendVersion() {
        append(Int64(VOW_VERSION_MAJOR))
        append(".")
        append(Int64(VOW_VERSION_MINOR))
        append(".")
        append(Int64(VOW_VERSION_PATCH))
    }
}
