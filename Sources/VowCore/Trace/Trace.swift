// Tracing as a whole: its one lock, its switch, and what the environment says.
//
// The lock is the last to be taken: whoever holds it takes no other and calls no foreign code but the program's
// allocator. It is held while events are written, to a descriptor that does not block unless it is a disk's.

import CVow
import CVowPlatform

struct Trace {
    var isOn = false
    /// Somebody is making its file, or is ending it: it cannot be switched on.
    var isChanging = false
    /// The history has what values hold, and not only their kind and length.
    var showsValues = false
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
    var hasNews = false
    let result: Result? = traceLock.withLock {
        if !trace.isOn { return nil }
        let result = body(&trace)
        hasNews = trace.file.endNote()
        return result
    }
    if hasNews { sayTraceNews() }
    return result
}

/// - Parameters:
///   - path: nil: only the live records are known, no history is written.
///   - isInherited: the environment says so, which a child has from its parent.
/// - Returns: 0, VOW_EINVAL (it is on already, or the file cannot be made or written: errno), VOW_ENOMEM.
func startTrace(_ path: UnsafePointer<CChar>?, isInherited: Bool = false) -> Int32 {
    let isFirst = traceLock.withLock {
        if trace.isOn || trace.isChanging { return false }
        trace.isChanging = true
        return true
    }
    if !isFirst { return VOW_EINVAL }
    guard let path else { return beginTrace(-1, nil) }
    let result = withTracePath { name, scratch in
        var isOther: Int32 = 0
        let file = vow_platform_create_trace(path, isInherited ? 1 : 0, name, scratch, &isOther)
        if file < 0 { return VOW_EINVAL }
        if isOther != 0 { sayThatTraceIsOther(path, name) }
        return beginTrace(file, name)
    }
    if result != 0 { traceLock.withLock { trace.isChanging = false } }
    return result
}

/// Calls body with memory for two paths. The first is body's if it returns 0.
private func withTracePath(
    _ body: (UnsafeMutablePointer<CChar>, UnsafeMutablePointer<CChar>) -> Int32
) -> Int32 {
    let size = Int(VOW_TRACE_PATH_SIZE)
    guard let name = allocateMemory(size) else { return VOW_ENOMEM }
    var result = VOW_ENOMEM
    if let scratch = allocateMemory(size) {
        result = body(
            name.bindMemory(to: CChar.self, capacity: size),
            scratch.bindMemory(to: CChar.self, capacity: size))
        let error = vow_platform_error()
        freeMemory(scratch, size)
        vow_platform_set_error(error)
    }
    if result != 0 {
        let error = vow_platform_error()
        freeMemory(name, size)
        vow_platform_set_error(error)
    }
    return result
}

/// Who calls it has `isChanging`, and gives it back where this says no.
private func beginTrace(_ file: Int32, _ name: UnsafeMutablePointer<CChar>?) -> Int32 {
    // The first look at a stack loads a library.
    _ = siteOfCaller()
    vow_platform_at_exit(closeTraceAtExit)
    let showsValues = isAskedFor("VOW_TRACE_VALUES")
    let error: Int32 = traceLock.withLock {
        trace.forgetRecords()
        if let name {
            let error = trace.file.open(file, name)
            if error != 0 { return error }
        }
        trace.isChanging = false
        trace.isOn = true
        trace.showsValues = showsValues
        trace.round &+= 1
        trace.live = 0
        trace.pending = 0
        if trace.file.isOpen { trace.introduceProcess() }
        vow_platform_set_tracing(1)
        return 0
    }
    guard error != 0, let name else { return 0 }
    vow_platform_discard_trace(file, name)
    vow_platform_set_error(error)
    return error == ENOMEM ? VOW_ENOMEM : VOW_EINVAL
}

/// Returns how many events are not in the file, and errno says why; nil: it is off.
func stopTrace() -> UInt64? {
    let ended: TraceFile? = traceLock.withLock {
        if !trace.isOn { return nil }
        trace.isOn = false
        if trace.file.isOpen {
            trace.isChanging = true
            trace.catchUp()
            var place = 0
            while let entry = trace.table.next(&place) { trace.writePending(entry) }
            trace.writeCounters(at: monotonicNow())
            trace.file.end()
        }
        trace.forgetRecords()
        // Last: until then who frees a record of the table waits here.
        vow_platform_set_tracing(0)
        return trace.file
    }
    guard var file = ended else { return nil }
    if !file.isOpen { return 0 }
    // Nobody else goes to it while it is changing, but a forked child, which closes the descriptor. So who reads it may
    // take his time.
    file.drain()
    sayTraceNews(ofEnded: file)
    traceLock.withLock {
        trace.file.close()
        trace.isChanging = false
    }
    if file.missing > 0 { vow_platform_set_error(file.failure != 0 ? file.failure : file.reason) }
    return file.missing
}

/// What the environment asks for, once, when the library is first used: VOW_TRACE=file, or VOW_TRACK=1 for the live
/// graph without a history.
func traceAsEnvironmentSays() {
    if let path = vow_platform_environment("VOW_TRACE"), path[0] != 0 {
        let result = startTrace(path, isInherited: true)
        if result != 0 { sayThatTraceIsUnwritable(path, result) }
    } else if isAskedFor("VOW_TRACK") {
        _ = startTrace(nil)
    }
}

/// Neither "" nor "0".
private func isAskedFor(_ variable: StaticString) -> Bool {
    let name = UnsafeRawPointer(variable.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let value = vow_platform_environment(name), value[0] != 0 else { return false }
    return !(value[0] == 0x30 && value[1] == 0)
}

private func closeTraceAtExit() { _ = stopTrace() }

/// Around a fork. The child's history would be mixed with its parent's: it has none, and no live graph. All locks are
/// held, so nothing is freed: the next trace takes what is left.
func lockTrace() { traceLock.lock() }

func unlockTrace() { traceLock.unlock() }

func forgetTrace() {
    vow_platform_set_tracing(0)
    trace.isOn = false
    trace.isChanging = false
    trace.file.abandon()
    vow_platform_forget_numbers()
    vow_platform_show_trace(nil, 0, 0)
}
