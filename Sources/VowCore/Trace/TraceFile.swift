// The file that a trace's history goes to, through a buffer. All under the tracing's lock.
//
// Chrome's trace event format: an object whose events stand one on a line, so that what a program that was killed
// has left can be read up to there. docs/tracing.md describes the events.

import CVow
import CVowPlatform

struct TraceFile {
    /// -1: none.
    private var descriptor: Int32 = -1
    private var buffer: UnsafeMutablePointer<CChar>?
    private var used = 0
    private var hasEvents = false
    private var lastFlush: Int64 = 0
    /// The disk is full, or the like. The history ends there: what came after a gap could not be read.
    private var hasFailed = false

    private static let size = 1 << 16
    /// An event waits no longer than this for the next one to take it to the file.
    private static let longestWait: Int64 = 200_000_000

    var isOpen: Bool { descriptor >= 0 }

    /// Takes an open descriptor. False without memory: nothing is taken.
    mutating func open(_ file: Int32) -> Bool {
        if buffer == nil {
            buffer = allocateMemory(TraceFile.size)?.bindMemory(
                to: CChar.self, capacity: TraceFile.size)
        }
        if buffer == nil { return false }
        descriptor = file
        hasFailed = false
        used = 0
        hasEvents = false
        lastFlush = monotonicNow()
        writeHead()
        return true
    }

    /// Ends the list of events, so that it is whole.
    mutating func close() {
        if !isOpen { return }
        put("\n]}\n")
        flush()
        abandon()
        if let buffer { freeMemory(buffer, TraceFile.size) }
        buffer = nil
    }

    /// Without a word: in a forked child, whose parent goes on writing. The buffer is kept for the next trace.
    mutating func abandon() {
        if !isOpen { return }
        vow_platform_close(descriptor)
        descriptor = -1
    }

    /// One event: `body` writes what stands between the braces.
    mutating func event(_ body: (inout TextBuffer) -> Void) {
        if !isOpen || hasFailed { return }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { line in
            var text = TextBuffer(line)
            text.append(hasEvents ? ",\n{" : "\n{")
            body(&text)
            text.append("}")
            // What was cut is no JSON. Labels and descriptions are too short for that to happen.
            if text.length >= line.count { return }
            hasEvents = true
            text.withText { put($0, $1) }
        }
        if monotonicNow() &- lastFlush > TraceFile.longestWait { flush() }
    }

    private mutating func writeHead() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { line in
            var text = TextBuffer(line)
            text.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"producer\":\"vow ")
            text.appendVersion()
            text.append("\",\"clock\":\"monotonic\",\"program\":")
            text.appendProgram()
            text.append("},\"traceEvents\":[")
            text.withText { put($0, $1) }
        }
    }

    private mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { put($0.baseAddress!, $0.count) }
        }
    }

    private mutating func put(_ bytes: UnsafePointer<CChar>, _ count: Int) {
        if used + count > TraceFile.size { flush() }
        guard let buffer, !hasFailed else { return }
        memcpy(buffer + used, bytes, count)
        used += count
    }

    mutating func flush() {
        lastFlush = monotonicNow()
        if let buffer, used > 0, !hasFailed {
            hasFailed = vow_platform_write(descriptor, buffer, used) == 0
        }
        used = 0
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
