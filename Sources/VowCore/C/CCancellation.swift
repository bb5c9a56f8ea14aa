// Chapter 9 of vow.h: cancellation; functions that are called on cancellation, and how they leave.

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
    let error = cancellation(reason)
    if let record = promiseRecord(promise, "vow_cancel_with") {
        isFirst = cancel(record, error, thread)
    }
    if reason.kind != VOW_NONE {
        error.release(thread)
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

// MARK: Functions that are called on cancellation

/// A function to register; its context is destroyed if the registration fails.
private struct Given {
    let fn: HookFunction?
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?

    func refuse(_ answer: Int32, _ thread: ThreadPointer) -> Int32 {
        if let destroy { runForeign(thread) { destroy(context) } }
        leave(thread)
        return answer
    }

    /// - Parameters:
    ///   - source: the hook keeps it if it has a handle.
    ///   - handle: nil for a hook that cannot leave.
    func makeHook(
        leaving source: SourcePointer?, _ handle: UnsafeMutablePointer<OpaquePointer?>?,
        _ thread: ThreadPointer
    ) -> HookPointer? {
        guard let fn else { return nil }
        let surroundings = thread.carriesSomething ? surroundingsHere(thread) : nil
        guard
            let hook = VowCore.makeHook(
                fn, context, destroy, leaving: handle == nil ? nil : source, with: surroundings)
        else {
            surroundings?.release(thread)
            return nil
        }
        if let handle {
            hook.retainHandle()
            handle.pointee = OpaquePointer(hook)
        }
        return hook
    }
}

/// - Parameter owner: a token's source or a resolver's promise; `add` gives the hook to it. `source`: a token's owner, else nil.
private func register<Owner>(
    _ given: Given, to owner: Owner?, of source: SourcePointer? = nil,
    _ handle: UnsafeMutablePointer<OpaquePointer?>?,
    _ add: (HookPointer, Owner, ThreadPointer) -> Void
) -> Int32 {
    let thread = currentThread()
    guard let owner, given.fn != nil else { return given.refuse(VOW_EINVAL, thread) }
    guard let hook = given.makeHook(leaving: source, handle, thread) else {
        return given.refuse(VOW_ENOMEM, thread)
    }
    add(hook, owner, thread)
    leave(thread)
    return 0
}

private func register(
    _ given: Given, with token: OpaquePointer?, _ handle: UnsafeMutablePointer<OpaquePointer?>?,
    _ function: StaticString
) -> Int32 {
    let source = tokenRecord(token, function)
    return register(given, to: source, of: source, handle) { addHook($0, to: $1, $2) }
}

private func register(
    _ given: Given, by resolver: OpaquePointer?, _ handle: UnsafeMutablePointer<OpaquePointer?>?,
    _ function: StaticString
) -> Int32 {
    register(given, to: resolverRecord(resolver, function), handle) {
        addHook($0, to: $1, hasHandle: handle != nil, $2)
    }
}

/// Registers with a handle. Without a place for the handle nothing is registered.
private func withHandle(
    _ given: Given, at place: UnsafeMutablePointer<OpaquePointer?>?,
    _ register: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
) -> Int32 {
    guard let place else { return given.refuse(VOW_EINVAL, currentThread()) }
    place.pointee = nil
    return register(place)
}

@_cdecl("vow_resolver_on_cancel") @implementation
public func vow_resolver_on_cancel(
    _ resolver: OpaquePointer!, _ fn: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> Int32 {
    register(
        Given(fn: fn, context: context, destroy: destroy), by: resolver, nil,
        "vow_resolver_on_cancel")
}

@_cdecl("vow_resolver_register") @implementation
public func vow_resolver_register(
    _ resolver: OpaquePointer!, _ fn: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ registration: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    let given = Given(fn: fn, context: context, destroy: destroy)
    return withHandle(given, at: registration) {
        register(given, by: resolver, $0, "vow_resolver_register")
    }
}

@_cdecl("vow_token_on_cancel") @implementation
public func vow_token_on_cancel(
    _ token: OpaquePointer!, _ fn: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> Int32 {
    register(
        Given(fn: fn, context: context, destroy: destroy), with: token, nil, "vow_token_on_cancel")
}

@_cdecl("vow_token_register") @implementation
public func vow_token_register(
    _ token: OpaquePointer!, _ fn: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
    _ registration: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    let given = Given(fn: fn, context: context, destroy: destroy)
    return withHandle(given, at: registration) {
        register(given, with: token, $0, "vow_token_register")
    }
}

@inline(__always)
private func hook(_ handle: OpaquePointer?, _ function: StaticString) -> HookPointer? {
    let hook = HookPointer(handle)
    #if VOW_CHECKED
        if let hook, hook.pointee.seal != Seal.live(.registration) {
            Seal.refuse(
                hook.pointee.seal, handle, .registration, function,
                ": the registration was released before (or is none)")
        }
    #endif
    return hook
}

@_cdecl("vow_registration_leave") @implementation
public func vow_registration_leave(_ registration: OpaquePointer!) -> vow_stage {
    guard let hook = hook(registration, "vow_registration_leave") else { return VOW_NEVER_RUNS }
    let thread = currentThread()
    let stage = leave(hook, thread)
    leave(thread)
    return vow_stage(stage)
}

@_cdecl("vow_registration_stage") @implementation
public func vow_registration_stage(_ registration: OpaquePointer!) -> vow_stage {
    guard let hook = hook(registration, "vow_registration_stage") else { return VOW_NEVER_RUNS }
    return vow_stage(hook.pointee.stage.loadAcquire())
}

@_cdecl("vow_registration_retain") @implementation
public func vow_registration_retain(_ registration: OpaquePointer!) -> OpaquePointer! {
    hook(registration, "vow_registration_retain")?.retain()
    return registration
}

@_cdecl("vow_registration_release") @implementation
public func vow_registration_release(_ registration: OpaquePointer!) {
    guard let hook = hook(registration, "vow_registration_release") else { return }
    let thread = currentThread()
    hook.release(thread)
    leave(thread)
}
