// Tracing is switched on and off: by the program, by the environment, at the process's exit and by a fork.

import CVow
import CVowPlatform

/// - Parameters:
///   - path: nil: only the live records are known, and no history is written.
///   - isInherited: the environment asks for the trace, and a child inherits the environment.
/// - Returns: 0, VOW_EINVAL (it is on already, or the file cannot be made or written: errno), VOW_ENOMEM.
@inline(__always)
func startTrace(_ path: UnsafePointer<CChar>?, isInherited: Bool = false) -> Int32 {
    if hasTracing { return startTracing(path, isInherited) }
    vow_platform_set_error(ENOSYS)
    return VOW_EINVAL
}

@inline(never)
private func startTracing(_ path: UnsafePointer<CChar>?, _ isInherited: Bool) -> Int32 {
    let isFirst = traceLock.withLock {
        if trace.isOn || trace.isChanging { return false }
        trace.isChanging = true
        return true
    }
    if !isFirst { return VOW_EINVAL }
    // The first look at a stack loads a library.
    _ = siteOfCaller()
    vow_platform_at_exit(endTraceAtExit)
    var history = History()
    let error = path.map { history.open($0, isInherited: isInherited) } ?? 0
    traceLock.withLock {
        trace.isChanging = false
        if error != 0 { return }
        trace.forgetAll()
        trace.history.close()
        trace.history = history
        trace.round &+= 1
        trace.isOn = true
        vow_platform_set_tracing(1)
    }
    if error == 0 { return 0 }
    vow_platform_set_error(error)
    return error == ENOMEM ? VOW_ENOMEM : VOW_EINVAL
}

/// Returns the number of events that are not in the file, with the reason in errno; nil: tracing is off.
@inline(__always)
func stopTrace() -> UInt64? { hasTracing ? endTracing() : nil }

@inline(never)
private func endTracing() -> UInt64? {
    let ended: History? = traceLock.withLock {
        if !trace.isOn { return nil }
        trace.isOn = false
        if trace.history.isOpen {
            trace.isChanging = true
            trace.writeEnd()
        }
        trace.forgetAll()
        // Last: until then a thread that frees a record of the table waits here.
        vow_platform_set_tracing(0)
        return trace.history
    }
    guard var history = ended else { return nil }
    if !history.isOpen { return 0 }
    // Only a forked child uses the history meanwhile, and closes the descriptor: so the reader may take its time.
    history.drain()
    history.warnOfMissing()
    traceLock.withLock {
        trace.history.close()
        trace.isChanging = false
    }
    if history.missing > 0 { vow_platform_set_error(history.error) }
    return history.missing
}

private func endTraceAtExit() { _ = stopTrace() }

/// At the first use of the library: VOW_TRACE=file, or VOW_TRACK=1 for the live graph without a history.
func traceAsEnvironmentSays() {
    if let path = vow_platform_environment("VOW_TRACE"), path[0] != 0 {
        if startTrace(path, isInherited: true) != 0 { sayThatTraceIsRefused(path) }
    } else if isAskedFor("VOW_TRACK") {
        _ = startTrace(nil)
    }
}

/// Errno has the reason.
private func sayThatTraceIsRefused(_ path: UnsafePointer<CChar>) {
    let error = vow_platform_error()
    warn("vow: VOW_TRACE: cannot write ") {
        $0.append(text: path)
        $0.append(": ")
        $0.append(error: error)
        if error == ENXIO { $0.append(", a pipe that nobody reads") }
    }
}

/// Neither "" nor "0".
func isAskedFor(_ variable: StaticString) -> Bool {
    let name = UnsafeRawPointer(variable.utf8Start).assumingMemoryBound(to: CChar.self)
    guard let value = vow_platform_environment(name), value[0] != 0 else { return false }
    return !(value[0] == 0x30 && value[1] == 0)
}

/// Around a fork. The child has no history, which would be mixed with its parent's, and no live graph. All locks are
/// held, so nothing is freed: the next trace takes the rest.
func lockTrace() { traceLock.lock() }

func unlockTrace() { traceLock.unlock() }

func forgetTrace() {
    vow_platform_set_tracing(0)
    trace.isOn = false
    trace.isChanging = false
    trace.history.abandon()
    vow_platform_forget_numbers()
    vow_platform_show_trace(nil, 0, 0)
}
