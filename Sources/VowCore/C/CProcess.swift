// Chapters 11 to 16 of vow.h: context; unhandled rejections, memory, looking inside; progress; tracing.

import CVow
import CVowPlatform

// MARK: Context

@_cdecl("vow_context_set") @implementation
public func vow_context_set(_ context: vow_value) {
    let thread = currentThread()
    checkValue(context, "vow_context_set")
    setContext(context, thread)
    leave(thread)
}

@_cdecl("vow_context_get") @implementation
public func vow_context_get() -> vow_value {
    var context = currentThread().pointee.context
    context.reserved &= ~Surroundings.scopeMark
    return context
}

// MARK: Unhandled rejections, memory, looking inside

@_cdecl("vow_on_unhandled") @implementation
public func vow_on_unhandled(
    _ hook: (@convention(c) (vow_value, UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!
) {
    setUnhandledHook(hook, context)
}

@_cdecl("vow_on_unhandled_with") @implementation
public func vow_on_unhandled_with(
    _ hook: (@convention(c) (vow_value, UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> Int32 {
    let thread = currentThread()
    defer { leave(thread) }
    guard let hook: UnhandledHook = hook else {
        if let destroy: Destroy = destroy { runForeign(thread) { destroy(context) } }
        return VOW_EINVAL
    }
    return setUnhandledHook(hook, context, destroy: destroy, thread) ? 0 : VOW_ENOMEM
}

@_cdecl("vow_set_allocator") @implementation
public func vow_set_allocator(_ allocator: UnsafePointer<vow_allocator>!) -> Int32 {
    var hooks = AllocatorHooks()
    if let allocator: UnsafePointer<vow_allocator> = allocator {
        if !isSizeValid(allocator.pointee.size, of: vow_allocator.self) { return VOW_EINVAL }
        let given = allocator.pointee
        if given.allocate == nil || given.deallocate == nil { return VOW_EINVAL }
        hooks = AllocatorHooks(
            allocate: given.allocate, deallocate: given.deallocate, context: given.context)
    }
    return threadRegistryLock.withLock {
        if threadRegistry.hasBegun { return VOW_EINVAL }
        allocatorHooks = hooks
        return 0
    }
}

@_cdecl("vow_version") @implementation
public func vow_version() -> UInt32 {
    UInt32(VOW_VERSION_MAJOR << 16 | VOW_VERSION_MINOR << 8 | VOW_VERSION_PATCH)
}

@_cdecl("vow_shutdown") @implementation
public func vow_shutdown(_ timeout_ns: Int64) -> Int64 {
    if timeout_ns < Int64(VOW_FOREVER) { return Int64(VOW_EINVAL) }
    let thread = currentThread()
    let deadline: Deadline = timeout_ns == Int64(VOW_FOREVER) ? .never : .after(timeout_ns)
    return shutDown(until: deadline, thread)
}

@_cdecl("vow_stats") @implementation
public func vow_stats(_ out: UnsafeMutablePointer<vow_statistics>!) -> Int32 {
    guard let out: UnsafeMutablePointer<vow_statistics> = out,
        out.pointee.size >= MemoryLayout<Int>.size
    else { return VOW_EINVAL }
    let sums = sumCounters()
    var filled = vow_statistics()
    filled.size = out.pointee.size
    filled.created = sums.promisesMade
    filled.settled = sums.promisesSettled
    filled.live = sums.promisesMade &- sums.promisesFreed
    filled.pending = sums.promisesMade &- sums.promisesSettled &- sums.promisesFreedPending
    filled.handlers = sums.handlersRegistered &- sums.handlersDone
    filled.bytes = sums.bytesTaken &- sums.bytesFreed
    filled.spare = sums.spareBytes
    if filled.size >= MemoryLayout<vow_statistics>.size {
        vow_platform_count_stacks(&filled.stacks, &filled.deepest)
    }
    memcpy(out, &filled, min(filled.size, MemoryLayout<vow_statistics>.size))
    return 0
}

@_cdecl("vow_trim") @implementation
public func vow_trim() -> Int {
    vow_platform_trim_stacks()
    // A thread that has not entered keeps no memory.
    let bytes = vow_platform_thread() != nil ? giveSpareMemoryBack() : emptyDepot()
    if allocatorHooks.allocate == nil { vow_platform_trim_heap() }
    return bytes
}

// MARK: Progress

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

// MARK: Tracing

@_cdecl("vow_trace_start") @implementation
public func vow_trace_start(_ path: UnsafePointer<CChar>!) -> Int32 {
    _ = currentThread()
    return startTrace(path)
}

@_cdecl("vow_trace_stop") @implementation
public func vow_trace_stop() -> Int32 {
    // The environment may switch tracing on at this moment.
    _ = currentThread()
    guard let missing = stopTrace() else { return VOW_EINVAL }
    return Int32(clamping: missing)
}

@_cdecl("vow_promise_set_label") @implementation
public func vow_promise_set_label(_ promise: OpaquePointer!, _ label: UnsafePointer<CChar>!) {
    guard let record = promiseRecord(promise, "vow_promise_set_label"), isTracing else { return }
    noteLabel(record, label)
}

@_cdecl("vow_graph_write") @implementation
public func vow_graph_write(_ fd: Int32, _ format: UInt32) -> Int32 {
    _ = currentThread()
    switch format {
    case VOW_GRAPH_DOT: return writeGraph(to: fd, asJSON: false)
    case VOW_GRAPH_JSON: return writeGraph(to: fd, asJSON: true)
    default: return VOW_EINVAL
    }
}
