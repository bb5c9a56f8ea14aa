// Chapter 9 of vow.h: functions that are called on cancellation, and how they leave.

import CVow

/// What is to be registered; its context is destroyed if it is not.
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
    ///   - source: kept by a hook that leaves it.
    ///   - handle: of one that can leave.
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

/// - Parameters:
///   - owner: a token's source or a resolver's promise, to which `add` gives the hook.
///   - source: the owner, of a token.
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

/// With a handle, which there must be a place for: nothing is registered before that is known.
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
