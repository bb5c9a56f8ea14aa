// Chapters 2 and 3 of vow.h: errors, promises and resolvers.

import CVow

@_cdecl("vow_error_name") @implementation
public func vow_error_name(_ code: Int64) -> UnsafePointer<CChar>! {
    UnsafeRawPointer(nameOfError(code).utf8Start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("vow_promise_create") @implementation
public func vow_promise_create(_ resolver: UnsafeMutablePointer<OpaquePointer?>!) -> OpaquePointer!
{
    let thread = currentThread()
    if resolver == nil { return invalidPromise("vow_promise_create", "resolver is NULL", thread) }
    let promise = makePromise(.open, producers: 1, thread) ?? promiseWithoutMemory!
    resolver.pointee = HandleMark.resolver(promise)
    return OpaquePointer(promise)
}

@_cdecl("vow_promise_create_with") @implementation
public func vow_promise_create_with(
    _ resolver: UnsafeMutablePointer<OpaquePointer?>!, _ flags: UInt32
) -> OpaquePointer! {
    let function: StaticString = "vow_promise_create_with"
    let thread = currentThread()
    if resolver == nil { return invalidPromise(function, "resolver is NULL", thread) }
    if flags & ~VOW_COOPERATIVE != 0 {
        resolver.pointee = nil
        return invalidPromise(function, "flags has unknown bits", thread)
    }
    let shape: Shape = flags == 0 ? [] : .cooperative
    let promise = makePromise(.open, shape, producers: 1, thread) ?? promiseWithoutMemory!
    resolver.pointee = HandleMark.resolver(promise)
    return OpaquePointer(promise)
}

@_cdecl("vow_promise_with") @implementation
public func vow_promise_with(_ value: vow_value) -> OpaquePointer! {
    let thread = currentThread()
    checkValue(value, "vow_promise_with")
    let promise = makePromise(of: value, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_promise_retain") @implementation
public func vow_promise_retain(_ promise: OpaquePointer!) -> OpaquePointer! {
    if let record = promiseRecord(promise, "vow_promise_retain") {
        record.retainOneOfMany(Counts.oneReader)
        record.noteHandle()
    }
    return promise
}

@_cdecl("vow_promise_release") @implementation
public func vow_promise_release(_ promise: OpaquePointer!) {
    guard let record = consumedRecord(promise, "vow_promise_release") else { return }
    let thread = currentThread()
    releaseHandle(record, thread)
    leave(thread)
}

@_cdecl("vow_detach") @implementation
public func vow_detach(_ promise: OpaquePointer!) {
    guard let record = consumedRecord(promise, "vow_detach") else { return }
    let thread = currentThread()
    detach(record, thread)
    leave(thread)
}

@_cdecl("vow_promise_state") @implementation
public func vow_promise_state(_ promise: OpaquePointer!) -> vow_state {
    guard let record = promiseRecord(promise, "vow_promise_state"),
        record.pointee.state.read().hasValue
    else { return VOW_PENDING }
    return record.value.isError ? VOW_REJECTED : VOW_FULFILLED
}

@_cdecl("vow_promise_peek") @implementation
public func vow_promise_peek(_ promise: OpaquePointer!, _ out: UnsafeMutablePointer<vow_value>!)
    -> Bool
{
    out?.pointee = vow_none()
    guard let record = promiseRecord(promise, "vow_promise_peek"),
        record.pointee.state.read().hasValue
    else { return false }
    if let out {
        out.pointee = record.value
        if out.pointee.isError { record.pointee.isObserved.set() }
    }
    return true
}

@_cdecl("vow_resolve") @implementation
public func vow_resolve(_ resolver: OpaquePointer!, _ value: vow_value) -> Bool {
    resolveByHandle(resolver, value, "vow_resolve", asRejection: false)
}

@_cdecl("vow_reject") @implementation
public func vow_reject(_ resolver: OpaquePointer!, _ error: vow_value) -> Bool {
    resolveByHandle(resolver, error, "vow_reject", asRejection: true)
}

@inline(__always)
private func resolveByHandle(
    _ resolver: OpaquePointer?, _ value: vow_value, _ function: StaticString, asRejection: Bool
) -> Bool {
    let thread = currentThread()
    checkValue(value, function)
    let record = resolverRecord(resolver, function)
    var isFirst = false
    if asRejection && !value.isError {
        // Without memory for the error the value is released; its destructor might wait for the promise.
        asOneStep(thread) {
            isFirst = resolveOrRelease(record, errorForRejection(value, thread), thread)
        }
    } else {
        isFirst = resolveOrRelease(record, value, thread)
    }
    leave(thread)
    return isFirst
}

@inline(__always)
private func resolveOrRelease(
    _ record: RecordPointer?, _ value: vow_value, _ thread: ThreadPointer
) -> Bool {
    guard let record else {
        value.release(thread)
        return false
    }
    if resolve(record, whileIn: .open, value, .lent, thread) { return true }
    switch endCancelled(record, value, .lent, thread) {
    case .kept: return true
    case .dropped: break
    case .notCancelled: value.release(thread)
    }
    return false
}

@_cdecl("vow_resolver_retain") @implementation
public func vow_resolver_retain(_ resolver: OpaquePointer!) -> OpaquePointer! {
    resolverRecord(resolver, "vow_resolver_retain")?.retainOneOfMany(Counts.oneProducer)
    return resolver
}

@_cdecl("vow_resolver_release") @implementation
public func vow_resolver_release(_ resolver: OpaquePointer!) {
    guard let record = resolverRecord(resolver, "vow_resolver_release") else { return }
    let thread = currentThread()
    record.releaseResolver(thread)
    leave(thread)
}
