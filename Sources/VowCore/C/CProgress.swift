// Chapter 15 of vow.h: progress.

import CVow

@_cdecl("vow_promise_set_progress") @implementation
public func vow_promise_set_progress(
    _ promise: OpaquePointer!, _ fraction: Double, _ note: UnsafePointer<CChar>!
) -> Int32 {
    setProgress(by: promiseRecord(promise, "vow_promise_set_progress"), fraction, note)
}

@_cdecl("vow_resolver_set_progress") @implementation
public func vow_resolver_set_progress(
    _ resolver: OpaquePointer!, _ fraction: Double, _ note: UnsafePointer<CChar>!
) -> Int32 {
    setProgress(by: resolverRecord(resolver, "vow_resolver_set_progress"), fraction, note)
}

@_cdecl("vow_current_set_progress") @implementation
public func vow_current_set_progress(
    _ fraction: Double, _ note: UnsafePointer<CChar>!
) -> Int32 {
    let thread = currentThread()
    guard !fraction.isNaN else { return VOW_EINVAL }
    guard let running = thread.pointee.frame?.pointee.reaction else { return 0 }
    let fraction = min(max(fraction, 0), 1)
    guard let lane = laneOfRunning(running) else {
        return setProgress(by: running, fraction, note)
    }
    let share = lane.machine.pointee.program.share
    setProgress(
        of: lane.machine.promise, share?(lane, fraction) ?? fraction, note,
        onlyForward: share != nil, thread)
    leave(thread)
    return 0
}

private func setProgress(
    by record: RecordPointer?, _ fraction: Double, _ note: UnsafePointer<CChar>?
) -> Int32 {
    guard let record, !fraction.isNaN else { return VOW_EINVAL }
    let thread = currentThread()
    setProgress(of: record, fraction, note, thread)
    leave(thread)
    return 0
}

@_cdecl("vow_on_progress") @implementation
public func vow_on_progress(
    _ promise: OpaquePointer!, _ interval_ns: Int64, _ fn: vow_progress_handler!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> Int32 {
    let thread = currentThread()
    defer { leave(thread) }
    guard let record = promiseRecord(promise, "vow_on_progress"), let fn: vow_progress_handler = fn,
        interval_ns >= 0
    else {
        if let destroy: Destroy = destroy { runForeign(thread) { destroy(context) } }
        return VOW_EINVAL
    }
    return listen(to: record, every: interval_ns, fn, context, destroy, thread) ? 0 : VOW_ENOMEM
}
