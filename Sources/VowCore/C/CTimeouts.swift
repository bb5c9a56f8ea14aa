// Chapter 8 of vow.h, continued: time-outs and retries.

import CVow

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
    // One that is settled already comes back.
    if limited == record { record.noteHandle() }
    leave(thread)
    return OpaquePointer(limited)
}

@_cdecl("vow_error_attempts") @implementation
public func vow_error_attempts(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_attempts")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.attempts ?? 0
}
