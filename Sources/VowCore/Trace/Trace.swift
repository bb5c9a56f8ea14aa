// Tracing as a whole: its one lock, its switch, and what the environment says.
//
// The lock is the last to be taken: whoever holds it takes no other and calls no foreign code but the program's
// allocator. It is held while a full buffer is written, which only those who trace pay for.

import CVow
import CVowPlatform

struct Trace {
    var isOn = false
    /// Somebody is making its file.
    var isStarting = false
    var table = TraceTable()
    var sites = SiteNames()
    var file = TraceFile()
    /// How often it was switched on: threads introduce themselves once in each.
    var round: UInt32 = 0
    var live: Int64 = 0
    var pending: Int64 = 0
    var lastCounters: Int64 = 0
}

let traceLock = SpinLock()
nonisolated(unsafe) var trace = Trace()

/// Does something with the trace, if it is on.
@inline(__always)
@discardableResult
func withTrace<Result>(_ body: (inout Trace) -> Result) -> Result? {
    traceLock.withLock { trace.isOn ? body(&trace) : nil }
}

/// - Parameter path: nil: only the live records are known, no history is written.
/// - Returns: 0, VOW_EINVAL (it is on already, or the file cannot be made: errno), VOW_ENOMEM.
func startTrace(_ path: UnsafePointer<CChar>?) -> Int32 {
    let isFirst = traceLock.withLock {
        // The file must not be emptied that is being written.
        if trace.isOn || trace.isStarting { return false }
        trace.isStarting = true
        return true
    }
    if !isFirst { return VOW_EINVAL }
    var file: Int32 = -1
    if let path {
        file = vow_platform_create_file(path)
        if file < 0 {
            traceLock.withLock { trace.isStarting = false }
            return VOW_EINVAL
        }
    }
    // The first look at a stack loads a library.
    _ = siteOfCaller()
    vow_platform_at_exit(closeTraceAtExit)
    let result = traceLock.withLock {
        trace.isStarting = false
        trace.forgetRecords()
        if file >= 0 && !trace.file.open(file) { return VOW_ENOMEM }
        trace.isOn = true
        trace.round &+= 1
        trace.live = 0
        trace.pending = 0
        if trace.file.isOpen { trace.introduceProcess() }
        vow_platform_set_tracing(1)
        return 0
    }
    if result != 0 && file >= 0 { _ = close(file) }
    return result
}

/// False when it is off.
func stopTrace() -> Bool {
    let hasStopped: Bool? = withTrace { trace in
        trace.isOn = false
        if trace.file.isOpen {
            trace.catchUp()
            var place = 0
            while let entry = trace.table.next(&place) { trace.writePending(entry) }
            trace.writeCounters(at: monotonicNow())
            trace.file.close()
        }
        trace.forgetRecords()
        // Last: until then who frees a record of the table waits here.
        vow_platform_set_tracing(0)
        return true
    }
    return hasStopped ?? false
}

/// What the environment asks for, once, when the library is first used: VOW_TRACE=file, or VOW_TRACK=1 for the live
/// graph without a history.
func traceAsEnvironmentSays() {
    if let path = vow_platform_environment("VOW_TRACE"), path[0] != 0 {
        if startTrace(path) != 0 { reportUnwritable(path) }
    } else if let track = vow_platform_environment("VOW_TRACK"), track[0] != 0,
        !(track[0] == 0x30 && track[1] == 0)
    {
        _ = startTrace(nil)
    }
}

private func reportUnwritable(_ path: UnsafePointer<CChar>) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        text.append("vow: VOW_TRACE: cannot write ")
        text.append(path, strlen(path))
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { reason in
            guard let reason = reason.baseAddress else { return }
            vow_platform_error(reason, 128)
            text.append(": ")
            text.append(reason, strlen(reason))
        }
        text.endLine()
        text.withText { writeToStandardError($0, $1) }
    }
}

private func closeTraceAtExit() { _ = stopTrace() }

/// Around a fork. The child's history would be mixed with its parent's: it has none, and no live graph. All locks are
/// held, so nothing is freed: the next trace takes what is left.
func lockTrace() { traceLock.lock() }

func unlockTrace() { traceLock.unlock() }

func forgetTrace() {
    vow_platform_set_tracing(0)
    trace.isOn = false
    trace.isStarting = false
    trace.file.abandon()
    vow_platform_forget_numbers()
    vow_platform_show_trace(nil, 0, 0)
}
