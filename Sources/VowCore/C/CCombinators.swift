// Chapter 10 of vow.h: combinators and scopes.

import CVow

// MARK: Combinators

typealias Members = UnsafePointer<OpaquePointer?>

@_cdecl("vow_all") @implementation
public func vow_all(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    combined(promises, count, "vow_all", combineAll)
}

@_cdecl("vow_all_settled") @implementation
public func vow_all_settled(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int
) -> OpaquePointer! {
    combined(promises, count, "vow_all_settled", combineAllSettled)
}

@_cdecl("vow_any") @implementation
public func vow_any(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    combined(promises, count, "vow_any", combineAny)
}

@_cdecl("vow_some") @implementation
public func vow_some(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int, _ wanted: Int
) -> OpaquePointer! {
    combined(promises, count, "vow_some") {
        // A number beyond Int.max is more than there are members.
        combineSome($0, wanted: wanted < 0 ? Int.max : wanted, $1)
    }
}

@_cdecl("vow_race") @implementation
public func vow_race(_ promises: UnsafePointer<OpaquePointer?>!, _ count: Int) -> OpaquePointer! {
    if count == 0 {
        return invalidPromise("vow_race", "there is nothing to wait for", currentThread())
    }
    return combined(promises, count, "vow_race", combineRace)
}

func combined(
    _ promises: Members?, _ count: Int, _ function: StaticString,
    _ body: (UnsafeBufferPointer<OpaquePointer?>, ThreadPointer) -> RecordPointer
) -> OpaquePointer {
    let thread = currentThread()
    guard let promises, count != 0 else {
        if count != 0 { return invalidPromise(function, "promises is NULL", thread) }
        return OpaquePointer(body(UnsafeBufferPointer(start: nil, count: 0), thread))
    }
    // No array is so long.
    if count < 0 || count > mostMembers { return OpaquePointer(promiseWithoutMemory) }
    let members = UnsafeBufferPointer(start: promises, count: count)
    var isAnyMissing = false
    for member in members { if consumedRecord(member, function) == nil { isAnyMissing = true } }
    if isAnyMissing {
        let answer = invalidPromise(function, "a promise is NULL", thread)
        releaseMembers(members, thread)
        leave(thread)
        return answer
    }
    let promise = body(members, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_error_index") @implementation
public func vow_error_index(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_index")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.index ?? -1
}

// MARK: Scopes

private func scopeRecord(_ handle: OpaquePointer?, _ function: StaticString) -> ScopePointer? {
    let scope = ScopePointer(handle)
    #if VOW_CHECKED
        if let scope, scope.pointee.seal != Seal.live(.scope) {
            Seal.refuse(
                scope.pointee.seal, handle, .scope, function,
                ": the scope was closed or released before (or is none)")
        }
    #endif
    return scope
}

@_cdecl("vow_scope_create") @implementation
public func vow_scope_create() -> OpaquePointer! {
    let thread = currentThread()
    let scope = makeScope(ScopePlan(), thread)
    leave(thread)
    return OpaquePointer(scope)
}

@_cdecl("vow_scope_create_with") @implementation
public func vow_scope_create_with(_ options: UnsafePointer<vow_scope_options>!) -> OpaquePointer! {
    let thread = currentThread()
    var plan = ScopePlan()
    if let options {
        if let problem = problem(with: options) {
            plan.refusal = VOW_EINVAL
            plan.failure = invalidArgument("vow_scope_create_with", problem)
        } else {
            let given = options.pointee
            plan.failsFast = given.flags & VOW_SCOPE_FAIL_FAST != 0
            plan.deadline = given.deadline_ns
            plan.patience = given.grace_ns
            plan.label = given.label
        }
    }
    let scope = makeScope(plan, thread)
    if scope == nil { plan.failure.release(thread) }
    leave(thread)
    return OpaquePointer(scope)
}

private func problem(with options: UnsafePointer<vow_scope_options>) -> StaticString? {
    if !isSizeValid(options.pointee.size, of: vow_scope_options.self) {
        return "options->size is not the size of vow_scope_options"
    }
    if options.pointee.flags & ~VOW_SCOPE_FAIL_FAST != 0 {
        return "options->flags has a flag that is none"
    }
    if options.pointee.deadline_ns < 0 { return "options->deadline_ns is negative" }
    return options.pointee.grace_ns < 0 ? "options->grace_ns is negative" : nil
}

@_cdecl("vow_scope_retain") @implementation
public func vow_scope_retain(_ scope: OpaquePointer!) -> OpaquePointer! {
    scopeRecord(scope, "vow_scope_retain")?.retainHandle()
    return scope
}

@_cdecl("vow_scope_add") @implementation
public func vow_scope_add(_ scope: OpaquePointer!, _ promise: OpaquePointer!) -> Int32 {
    let thread = currentThread()
    defer { leave(thread) }
    let record = consumedRecord(promise, "vow_scope_add")
    guard let scope = scopeRecord(scope, "vow_scope_add"), let record else {
        record?.release(thread)
        return VOW_EINVAL
    }
    switch add(record, to: scope, thread) {
    case .added: return 0
    case .cancelled: return VOW_ECANCELLED
    case .ended: return VOW_ESHUTDOWN
    case .noMemory: return VOW_ENOMEM
    case .refused(let code): return code
    }
}

@_cdecl("vow_scope_async") @implementation
public func vow_scope_async(
    _ scope: OpaquePointer!, _ executor: OpaquePointer!, _ fn: vow_handler!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> OpaquePointer! {
    let function: StaticString = "vow_scope_async"
    let thread = currentThread()
    guard let scope = scopeRecord(scope, function), let fn: Handler = fn else {
        let answer = invalidPromise(
            function, scope == nil ? "scope is NULL" : "fn is NULL", thread)
        if let destroy { runForeign(thread) { destroy(context) } }
        leave(thread)
        return answer
    }
    let member = startMember(
        of: scope,
        Reaction(
            shape: .ofWork, handler: fn, context: context,
            executor: executorRecord(executor, function),
            extras: LinkExtras(onRejected: nil, destroy: destroy, label: nil)), thread)
    leave(thread)
    return OpaquePointer(member)
}

@_cdecl("vow_scope_cancel") @implementation
public func vow_scope_cancel(_ scope: OpaquePointer!) {
    let thread = currentThread()
    if let scope = scopeRecord(scope, "vow_scope_cancel") {
        cancelMembers(of: scope, ownErrors.cancelled, thread)
    }
    leave(thread)
}

@_cdecl("vow_scope_close") @implementation
public func vow_scope_close(_ scope: OpaquePointer!) -> OpaquePointer! {
    let thread = currentThread()
    guard let scope = scopeRecord(scope, "vow_scope_close") else {
        return invalidPromise("vow_scope_close", "scope is NULL", thread)
    }
    let promise = closeScope(scope, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_scope_release") @implementation
public func vow_scope_release(_ scope: OpaquePointer!) {
    guard let scope = scopeRecord(scope, "vow_scope_release") else { return }
    let thread = currentThread()
    releaseScope(scope, thread)
    leave(thread)
}
