// Chapters 7 and 8 of vow.h: event loops; time, with time-outs and retries.

import CVow
import CVowPlatform

// MARK: Event loops

@inline(__always)
private func loopRecord(_ handle: OpaquePointer?, _ function: StaticString) -> LoopPointer? {
    let loop = LoopPointer(handle)
    #if VOW_CHECKED
        let live = Seal.live(.loop)
        if let loop, loop.pointee.seal != live || loop.pointee.isClosed.loadRelaxed() == 1 {
            if loop.pointee.seal != live || !loop.isRun(by: currentThread()) {
                Seal.refuse(
                    loop.pointee.seal, handle, .loop, function,
                    ": the loop was destroyed before (or is none)")
            }
        }
    #endif
    return loop
}

@_cdecl("vow_loop_create") @implementation
public func vow_loop_create() -> OpaquePointer! {
    OpaquePointer(makeLoop(isVirtual: false, currentThread()))
}

@_cdecl("vow_loop_create_virtual") @implementation
public func vow_loop_create_virtual() -> OpaquePointer! {
    OpaquePointer(makeLoop(isVirtual: true, currentThread()))
}

@_cdecl("vow_loop_advance") @implementation
public func vow_loop_advance(_ loop: OpaquePointer!, _ ns: Int64) -> Int32 {
    guard let loop = loopRecord(loop, "vow_loop_advance"), ns >= 0, loop.pointee.isVirtual else {
        return VOW_EINVAL
    }
    let thread = currentThread()
    let result = advance(loop, by: ns, thread)
    leave(thread)
    return result
}

@_cdecl("vow_loop_executor") @implementation
public func vow_loop_executor(_ loop: OpaquePointer!) -> OpaquePointer! {
    OpaquePointer(loopRecord(loop, "vow_loop_executor")?.pointee.executor)
}

@_cdecl("vow_loop_fd") @implementation
public func vow_loop_fd(_ loop: OpaquePointer!) -> Int32 {
    loopRecord(loop, "vow_loop_fd")?.pointee.set ?? VOW_EINVAL
}

@_cdecl("vow_loop_run_once") @implementation
public func vow_loop_run_once(_ loop: OpaquePointer!, _ timeout_ns: Int64) -> Int32 {
    guard let loop = loopRecord(loop, "vow_loop_run_once"), timeout_ns >= Int64(VOW_FOREVER)
    else { return VOW_EINVAL }
    let thread = currentThread()
    checkHandlersAreThere(thread)
    let result = runOnce(loop, until: deadline(timeout_ns), thread)
    leave(thread)
    return result
}

@_cdecl("vow_loop_run_until") @implementation
public func vow_loop_run_until(
    _ loop: OpaquePointer!, _ promise: OpaquePointer!, _ timeout_ns: Int64
) -> Int32 {
    guard let loop = loopRecord(loop, "vow_loop_run_until"),
        let record = promiseRecord(promise, "vow_loop_run_until"),
        timeout_ns >= Int64(VOW_FOREVER)
    else { return VOW_EINVAL }
    return wait(for: record, timeout: timeout_ns, running: loop, nil)
}

private func deadline(_ timeout: Int64) -> Deadline {
    timeout == Int64(VOW_FOREVER) ? .never : .after(timeout)
}

@_cdecl("vow_loop_wake") @implementation
public func vow_loop_wake(_ loop: OpaquePointer!) {
    // The caller may be in a signal handler, so nothing else is touched.
    guard let loop = LoopPointer(loop) else { return }
    #if VOW_CHECKED
        if loop.pointee.seal != Seal.live(.loop) {
            fatal("vow_loop_wake", ": the loop was destroyed before (or is none)")
        }
    #endif
    if !loop.isUsable { return }
    loop.pointee.isWoken.storeRelease(1)
    vow_platform_raise(loop.pointee.event)
}

@_cdecl("vow_loop_destroy") @implementation
public func vow_loop_destroy(_ loop: OpaquePointer!) {
    guard let loop = loopRecord(loop, "vow_loop_destroy") else { return }
    let thread = currentThread()
    destroyLoop(loop, thread)
    leave(thread)
}

@_cdecl("vow_fd_ready") @implementation
public func vow_fd_ready(_ fd: Int32, _ events: UInt32) -> OpaquePointer! {
    let thread = currentThread()
    if events == 0 || events & ~(VOW_READ | VOW_WRITE) != 0 {
        return invalidPromise("vow_fd_ready", "events are not VOW_READ, VOW_WRITE or both", thread)
    }
    if fd < 0 || vow_platform_is_open(fd) == 0 {
        return invalidPromise("vow_fd_ready", "fd is not open", thread)
    }
    var promise = makeDescriptorReady(fd, events, thread)
    if let left = timeLeft(thread) { promise = limitTime(of: promise, left, thread) }
    leave(thread)
    return OpaquePointer(promise)
}

// MARK: Time

@_cdecl("vow_now") @implementation
public func vow_now() -> Int64 { clockNow(currentThread()) }

@_cdecl("vow_delay") @implementation
public func vow_delay(_ ns: Int64) -> OpaquePointer! {
    let thread = currentThread()
    if ns < 0 { return invalidPromise("vow_delay", "ns is negative", thread) }
    let delay = makeDelay(ns, thread)
    leave(thread)
    return OpaquePointer(delay)
}

// MARK: Time-outs and retries

@_cdecl("vow_timeout") @implementation
public func vow_timeout(_ promise: OpaquePointer!, _ ns: Int64) -> OpaquePointer! {
    let thread = currentThread()
    // A scope's deadline holds all the same.
    let isForEver = ns == Int64(VOW_FOREVER)
    if isForEver && timeLeft(thread) == nil && promiseRecord(promise, "vow_timeout") != nil {
        return promise
    }
    guard let record = consumedRecord(promise, "vow_timeout") else {
        return invalidPromise("vow_timeout", "promise is NULL", thread)
    }
    if ns < 0 && !isForEver {
        let answer = invalidPromise("vow_timeout", "ns is negative", thread)
        record.release(thread)
        leave(thread)
        return answer
    }
    let limited = limitTime(of: record, isForEver ? Int64.max : ns, thread)
    // A settled promise is returned itself.
    if limited == record { record.noteHandle() }
    leave(thread)
    return OpaquePointer(limited)
}

@_cdecl("vow_error_attempts") @implementation
public func vow_error_attempts(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_attempts")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.attempts ?? 0
}
