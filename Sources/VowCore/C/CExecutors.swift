// Chapter 6 of vow.h: where handlers run.

import CVow

@_cdecl("vow_executor_inline") @implementation
public func vow_executor_inline() -> OpaquePointer! {
    _ = currentThread()
    return OpaquePointer(ownExecutors.inline)
}

@_cdecl("vow_executor_pool") @implementation
public func vow_executor_pool() -> OpaquePointer! {
    let thread = currentThread()
    prepareWorkers(thread)
    leave(thread)
    return OpaquePointer(ownExecutors.pool)
}

@_cdecl("vow_executor_main") @implementation
public func vow_executor_main() -> OpaquePointer! {
    _ = currentThread()
    isMainExecutorUsed.set()
    return OpaquePointer(ownExecutors.main)
}

@_cdecl("vow_executor_serial") @implementation
public func vow_executor_serial(_ label: UnsafePointer<CChar>!) -> OpaquePointer! {
    let thread = currentThread()
    prepareWorkers(thread)
    leave(thread)
    return OpaquePointer(makeSerialExecutor(label: label))
}

@_cdecl("vow_executor_dispatch") @implementation
public func vow_executor_dispatch(_ dispatch_queue: UnsafeMutableRawPointer!, _ flags: UInt32)
    -> OpaquePointer!
{
    let thread = currentThread()
    guard let queue: UnsafeMutableRawPointer = dispatch_queue,
        flags == 0 || flags == VOW_BARRIER || flags == VOW_SERIAL, let queue = WorkQueue(queue)
    else { return nil }
    return OpaquePointer(makeDispatchExecutor(queue, flags: flags, thread))
}

@_cdecl("vow_executor_custom") @implementation
public func vow_executor_custom(
    _ cls: UnsafePointer<vow_executor_class>!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    let thread = currentThread()
    guard let cls: UnsafePointer<vow_executor_class> = cls,
        isSizeValid(cls.pointee.size, of: vow_executor_class.self)
    else { return nil }
    let isValid = cls.pointee.submit != nil && cls.pointee.flags & ~VOW_SERIAL == 0
    if isValid, let executor = makeCustomExecutor(cls, context) { return OpaquePointer(executor) }
    if let destroy = cls.pointee.destroy { runForeign(thread) { destroy(context) } }
    leave(thread)
    return nil
}

@_cdecl("vow_executor_retain") @implementation
public func vow_executor_retain(_ executor: OpaquePointer!) -> OpaquePointer! {
    executorRecord(executor, "vow_executor_retain")?.retain()
    return executor
}

@_cdecl("vow_executor_release") @implementation
public func vow_executor_release(_ executor: OpaquePointer!) {
    guard let record = executorRecord(executor, "vow_executor_release") else { return }
    let thread = currentThread()
    record.release(thread)
    leave(thread)
}

@_cdecl("vow_executor_set_default") @implementation
public func vow_executor_set_default(_ executor: OpaquePointer!) {
    let thread = currentThread()
    setStandardExecutor(executorRecord(executor, "vow_executor_set_default"), thread)
    leave(thread)
}

@_cdecl("vow_executor_current") @implementation
public func vow_executor_current() -> OpaquePointer! {
    let thread = currentThread()
    let executor = executorForReaction(nil, thread)
    // Borrowed: the running handler, the executor's owner or the default keeps the executor.
    executor.release(thread)
    leave(thread)
    return OpaquePointer(executor)
}

@_cdecl("vow_async") @implementation
public func vow_async(
    _ executor: OpaquePointer!, _ fn: vow_handler!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    let thread = currentThread()
    guard let fn: Handler = fn else { return invalidPromise("vow_async", "fn is NULL", thread) }
    let work = makeWork(
        Reaction(
            shape: [.link, .onFulfilled], handler: fn, context: context,
            executor: executorRecord(executor, "vow_async")), thread)
    leave(thread)
    return OpaquePointer(work)
}
