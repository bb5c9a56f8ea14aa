// Chapter 8 of vow.h: time.

import CVow

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
