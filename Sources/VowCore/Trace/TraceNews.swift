// What a trace says on standard error, once each: that its reader is slow, that it cannot be written, that its file has
// another name. Never under the tracing's lock, and not at all where standard error is a pipe that is full: that may be
// the very one whose reader is slow.

import CVow
import CVowPlatform

struct TraceNews {
    struct Kind {
        fileprivate let bit: UInt8
        /// Events find no room.
        static let isDropping = Kind(bit: 1)
        /// The file takes nothing any more.
        static let isBroken = Kind(bit: 2)
    }

    private var noticed: UInt8 = 0
    private var tried: UInt8 = 0
    private var said: UInt8 = 0

    /// A note looks at this.
    var isToBeSaid: Bool { noticed & ~tried != 0 }
    /// The end does so: what was tried in vain is tried again.
    var isUnsaid: Bool { noticed & ~said != 0 }

    mutating func notice(_ kind: Kind) { noticed |= kind.bit }

    mutating func markTried() { tried = noticed }

    mutating func markSaid() { said = tried }

    fileprivate func isUnsaid(_ kind: Kind) -> Bool { noticed & ~said & kind.bit != 0 }
}

/// After a note that has left the lock.
@inline(never)
func sayTraceNews() {
    withLine { text in
        traceLock.withLock {
            if !trace.isOn || !trace.file.news.isToBeSaid { return }
            text.append(newsOf: trace.file)
            trace.file.news.markTried()
        }
        if text.length == 0 || !sayLine(&text) { return }
        traceLock.withLock { trace.file.news.markSaid() }
    }
}

/// Nobody else has the file any more.
func sayTraceNews(ofEnded file: TraceFile) {
    if file.news.isUnsaid {
        withLine { text in
            text.append(newsOf: file)
            _ = sayLine(&text)
        }
    }
    if file.missing == 0 || file.failure != 0 { return }
    withLine { text in
        text.append("vow: trace: ")
        text.append(Int64(file.missing))
        text.append(" events are not in ")
        text.append(file.name)
        _ = sayLine(&text)
    }
}

/// The path is another process's.
func sayThatTraceIsOther(_ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>) {
    withLine { text in
        text.append("vow: trace: ")
        text.append(path)
        text.append(" is another process's; this one writes ")
        text.append(name)
        _ = sayLine(&text)
    }
}

/// What VOW_TRACE wants cannot be: errno, unless there is no memory.
func sayThatTraceIsUnwritable(_ path: UnsafePointer<CChar>, _ result: Int32) {
    let error = result == VOW_ENOMEM ? ENOMEM : vow_platform_error()
    withLine { text in
        text.append("vow: VOW_TRACE: cannot write ")
        text.append(path)
        text.append(": ")
        text.append(error: error)
        if error == ENXIO { text.append(", a pipe that nobody reads") }
        if error == EBUSY { text.append(", which is written already") }
        _ = sayLine(&text)
    }
}

private func withLine(_ body: (inout TextBuffer) -> Void) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        body(&text)
    }
}

/// False: nobody takes it now.
private func sayLine(_ text: inout TextBuffer) -> Bool {
    if vow_platform_takes_line(2, 0) == 0 { return false }
    writeLine(text)
    return true
}

extension TextBuffer {
    fileprivate mutating func append(newsOf file: TraceFile) {
        if file.news.isUnsaid(.isBroken) {
            append("vow: trace: cannot write ")
            append(file.name)
            append(": ")
            append(error: file.failure)
            append("; its history ends there")
        } else {
            append("vow: trace: who reads ")
            append(file.name)
            append(" is slow: events are dropped")
        }
    }

    fileprivate mutating func append(_ text: UnsafePointer<CChar>?) {
        if let text { append(text, strlen(text)) }
    }

    fileprivate mutating func append(error: Int32) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { reason in
            vow_platform_describe_error(error, reason.baseAddress!, 128)
            append(reason.baseAddress)
        }
    }
}
