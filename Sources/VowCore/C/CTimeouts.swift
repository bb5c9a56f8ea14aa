// Chapter 8 of vow.h, continued: time-outs and retries.

import CVow

@_cdecl("vow_timeout") @implementation
public func vow_timeout(_ promise: OpaquePointer!, _ ns: Int64) -> OpaquePointer! {
    let thread = currentThread()
    if ns == Int64(VOW_FOREVER) && promiseRecord(promise, "vow_timeout") != nil { return promise }
    guard let record = consumedRecord(promise, "vow_timeout") else {
        return invalidPromise("vow_timeout", "promise is NULL", thread)
    }
    if ns < 0 {
        let answer = invalidPromise("vow_timeout", "ns is negative", thread)
        record.release(thread)
        leave(thread)
        return answer
    }
    let limited = limitTime(of: record, ns, thread)
    // One that is settled already comes back.
    if limited == record { record.noteHandle() }
    leave(thread)
    return OpaquePointer(limited)
}

@_cdecl("vow_retry") @implementation
public func vow_retry(
    _ policy: UnsafePointer<vow_retry_policy>!, _ fn: vow_handler!,
    _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    let thread = currentThread()
    guard let fn: Handler = fn else { return invalidPromise("vow_retry", "fn is NULL", thread) }
    var kept = RetryPolicy()
    if let policy: UnsafePointer<vow_retry_policy> = policy {
        if !isSizeValid(policy.pointee.size, of: vow_retry_policy.self) {
            return invalidPromise(
                "vow_retry", "policy->size is not the size of vow_retry_policy", thread)
        }
        guard let given = RetryPolicy(policy.pointee) else {
            return invalidPromise("vow_retry", "policy has a number out of range", thread)
        }
        kept = given
    }
    let promise = retry(kept, fn, for: Caller(context: context), thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_error_attempts") @implementation
public func vow_error_attempts(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_attempts")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.attempts ?? 0
}
