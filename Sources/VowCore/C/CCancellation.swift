// Chapter 9 of vow.h: cancellation.

import CVow

@_cdecl("vow_cancel") @implementation
public func vow_cancel(_ promise: OpaquePointer!) -> Bool {
    vow_cancel_with(promise, vow_none())
}

@_cdecl("vow_cancel_with") @implementation
public func vow_cancel_with(_ promise: OpaquePointer!, _ reason: vow_value) -> Bool {
    let thread = currentThread()
    checkValue(reason, "vow_cancel_with")
    var isFirst = false
    asOneStep(thread) {
        if let record = promiseRecord(promise, "vow_cancel_with") {
            let error = cancellation(reason)
            isFirst = cancel(record, error, thread)
            error.release(thread)
        }
        reason.release(thread)
    }
    leave(thread)
    return isFirst
}

@_cdecl("vow_shield") @implementation
public func vow_shield(_ promise: OpaquePointer!) -> OpaquePointer! {
    let thread = currentThread()
    guard let record = consumedRecord(promise, "vow_shield") else {
        return invalidPromise("vow_shield", "promise is NULL", thread)
    }
    let shielded = shield(record, thread)
    leave(thread)
    return OpaquePointer(shielded)
}

@_cdecl("vow_current_is_cancelled") @implementation
public func vow_current_is_cancelled() -> Bool {
    currentThread().pointee.frame?.pointee.reaction.isCancelled ?? false
}

@_cdecl("vow_cancel_source_create") @implementation
public func vow_cancel_source_create() -> OpaquePointer! {
    OpaquePointer(makeSource(linkedTo: UnsafeBufferPointer(start: nil, count: 0), currentThread()))
}

@_cdecl("vow_cancel_source_create_linked") @implementation
public func vow_cancel_source_create_linked(
    _ parents: UnsafePointer<OpaquePointer?>!, _ count: Int
) -> OpaquePointer! {
    let thread = currentThread()
    if parents == nil && count != 0 || !canBeArray(count) { return nil }
    let tokens = UnsafeBufferPointer<OpaquePointer?>(start: parents, count: count)
    for token in tokens { _ = tokenRecord(token, "vow_cancel_source_create_linked") }
    let source = makeSource(linkedTo: tokens, thread)
    leave(thread)
    return OpaquePointer(source)
}

@_cdecl("vow_cancel_source_retain") @implementation
public func vow_cancel_source_retain(_ source: OpaquePointer!) -> OpaquePointer! {
    sourceRecord(source, "vow_cancel_source_retain")?.retainSource()
    return source
}

@_cdecl("vow_cancel_source_release") @implementation
public func vow_cancel_source_release(_ source: OpaquePointer!) {
    guard let record = sourceRecord(source, "vow_cancel_source_release") else { return }
    let thread = currentThread()
    record.releaseSource(thread)
    leave(thread)
}

@_cdecl("vow_cancel_source_cancel") @implementation
public func vow_cancel_source_cancel(_ source: OpaquePointer!) -> Bool {
    vow_cancel_source_cancel_with(source, vow_none())
}

@_cdecl("vow_cancel_source_cancel_with") @implementation
public func vow_cancel_source_cancel_with(_ source: OpaquePointer!, _ reason: vow_value) -> Bool {
    let thread = currentThread()
    checkValue(reason, "vow_cancel_source_cancel_with")
    var isFirst = false
    if let record = sourceRecord(source, "vow_cancel_source_cancel_with") {
        isFirst = cancelSource(record, reason, thread)
    } else {
        reason.release(thread)
    }
    leave(thread)
    return isFirst
}

@_cdecl("vow_cancel_source_token") @implementation
public func vow_cancel_source_token(_ source: OpaquePointer!) -> OpaquePointer! {
    HandleMark.token(sourceRecord(source, "vow_cancel_source_token"))
}

@_cdecl("vow_token_retain") @implementation
public func vow_token_retain(_ token: OpaquePointer!) -> OpaquePointer! {
    tokenRecord(token, "vow_token_retain")?.retainToken()
    return token
}

@_cdecl("vow_token_release") @implementation
public func vow_token_release(_ token: OpaquePointer!) {
    guard let record = tokenRecord(token, "vow_token_release") else { return }
    #if VOW_CHECKED
        if record.isHeldBySourcesOnly {
            fatal("vow_token_release", ": the token was released before")
        }
    #endif
    let thread = currentThread()
    record.releaseToken(thread)
    leave(thread)
}

@_cdecl("vow_token_is_cancelled") @implementation
public func vow_token_is_cancelled(_ token: OpaquePointer!) -> Bool {
    tokenRecord(token, "vow_token_is_cancelled")?.pointee.isCancelled.isSet ?? false
}

@_cdecl("vow_token_reason") @implementation
public func vow_token_reason(_ token: OpaquePointer!) -> vow_value {
    guard let source = tokenRecord(token, "vow_token_reason") else { return vow_none() }
    return source.pointee.lock.withLock { source.pointee.reason.retained() }
}
