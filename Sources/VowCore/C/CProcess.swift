// Chapters 12 to 14 of vow.h: unhandled rejections, memory, looking inside.

import CVow
import CVowPlatform

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
    memcpy(out, &filled, min(filled.size, MemoryLayout<vow_statistics>.size))
    return 0
}

@_cdecl("vow_trim") @implementation
public func vow_trim() -> Int {
    // A thread that has not entered keeps nothing.
    vow_platform_thread() != nil ? giveSpareMemoryBack() : 0
}
