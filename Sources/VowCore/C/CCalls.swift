// The functions of vow.h that run functions of the program, with a context or with a `vow_call`.

import CVow

extension Caller {
    /// Returns nil if the call's size is wrong: then not even its context can be destroyed.
    fileprivate init?(_ call: UnsafePointer<vow_call>?, _ function: StaticString) {
        guard let call else {
            self.init()
            return
        }
        if !isSizeValid(call.pointee.size, of: vow_call.self) { return nil }
        let given = call.pointee
        self.init(
            context: given.context, token: tokenRecord(given.token, function),
            destroy: given.destroy, executor: executorRecord(given.executor, function),
            label: given.label)
    }
}

private let wrongSize: StaticString = "call->size is not the size of vow_call"

/// Consumes the arguments, and rejects with the problem.
private func refuse(
    _ caller: Caller?, _ value: vow_value, _ function: StaticString, _ problem: StaticString,
    _ thread: ThreadPointer
) -> OpaquePointer {
    let answer = invalidPromise(function, problem, thread)
    caller?.giveUp(thread)
    value.release(thread)
    leave(thread)
    return answer
}

@_cdecl("vow_async_with") @implementation
public func vow_async_with(
    _ fn: vow_handler!, _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    let function: StaticString = "vow_async_with"
    let thread = currentThread()
    guard let caller = Caller(call, function) else {
        return refuse(nil, vow_none(), function, wrongSize, thread)
    }
    guard let fn: Handler = fn else {
        return refuse(caller, vow_none(), function, "fn is NULL", thread)
    }
    let work = makeWork(
        Reaction(
            shape: .ofWork, handler: fn, context: caller.context,
            executor: caller.executor,
            extras: LinkExtras(onRejected: nil, destroy: caller.destroy, label: caller.label),
            token: caller.token), thread)
    leave(thread)
    return OpaquePointer(work)
}

// MARK: Errors

@_cdecl("vow_catch_if") @implementation
public func vow_catch_if(
    _ promise: OpaquePointer!, _ domain: UnsafePointer<CChar>!, _ code: Int64, _ fn: vow_handler!,
    _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    catchErrors(promise, domain, code, fn, Caller(context: context), "vow_catch_if")
}

@_cdecl("vow_catch_if_with") @implementation
public func vow_catch_if_with(
    _ promise: OpaquePointer!, _ domain: UnsafePointer<CChar>!, _ code: Int64, _ fn: vow_handler!,
    _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    catchErrors(promise, domain, code, fn, Caller(call, "vow_catch_if_with"), "vow_catch_if_with")
}

private func catchErrors(
    _ promise: OpaquePointer?, _ domain: UnsafePointer<CChar>?, _ code: Int64, _ fn: Handler?,
    _ caller: Caller?, _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    let record = consumedRecord(promise, function)
    guard let fn, let caller, let record else {
        let problem: StaticString =
            caller == nil ? wrongSize : record == nil ? "promise is NULL" : "fn is NULL"
        let answer = refuse(caller, vow_none(), function, problem, thread)
        record?.release(thread)
        leave(thread)
        return answer
    }
    let derived = catchErrors(of: record, domain: domain, code: code, fn, for: caller, thread)
    leave(thread)
    return OpaquePointer(derived)
}

// MARK: Of lists and promises

@_cdecl("vow_map") @implementation
public func vow_map(
    _ list: vow_value, _ fn: vow_handler!, _ context: UnsafeMutableRawPointer!, _ concurrency: Int
) -> OpaquePointer! {
    map(list, fn, concurrency, Caller(context: context), "vow_map")
}

@_cdecl("vow_map_with") @implementation
public func vow_map_with(
    _ list: vow_value, _ fn: vow_handler!, _ concurrency: Int, _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    map(list, fn, concurrency, Caller(call, "vow_map_with"), "vow_map_with")
}

private func map(
    _ list: vow_value, _ fn: Handler?, _ concurrency: Int, _ caller: Caller?,
    _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    checkValue(list, function)
    guard list.kind == VOW_LIST, let fn, let caller else {
        let problem: StaticString =
            caller == nil ? wrongSize : fn == nil ? "fn is NULL" : "list is no list"
        return refuse(caller, list, function, problem, thread)
    }
    let promise = mapList(
        list, fn, for: caller, concurrency: concurrency < 0 ? Int.max : concurrency, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_reduce") @implementation
public func vow_reduce(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int, _ initial: vow_value,
    _ fn: vow_reducer!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    reduce(promises, count, initial, fn, Caller(context: context), "vow_reduce")
}

@_cdecl("vow_reduce_with") @implementation
public func vow_reduce_with(
    _ promises: UnsafePointer<OpaquePointer?>!, _ count: Int, _ initial: vow_value,
    _ fn: vow_reducer!, _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    reduce(promises, count, initial, fn, Caller(call, "vow_reduce_with"), "vow_reduce_with")
}

private func reduce(
    _ promises: Members?, _ count: Int, _ initial: vow_value, _ fn: Reducer?, _ caller: Caller?,
    _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    checkValue(initial, function)
    guard let fn, let caller else {
        if promises != nil && count > 0 && count <= mostMembers {
            releaseMembers(UnsafeBufferPointer(start: promises, count: count), thread)
        }
        return refuse(
            caller, initial, function, caller == nil ? wrongSize : "fn is NULL", thread)
    }
    var isUsed = false
    let promise = combined(promises, count, function) {
        isUsed = true
        return reduce($0, from: initial, fn, for: caller, $1)
    }
    if !isUsed {
        initial.release(thread)
        caller.giveUp(thread)
    }
    leave(thread)
    return promise
}

// MARK: Again and again

@_cdecl("vow_repeat") @implementation
public func vow_repeat(
    _ state: vow_value, _ again: (@convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool)!,
    _ step: vow_handler!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    repeatSteps(state, again, step, Caller(context: context), "vow_repeat")
}

@_cdecl("vow_repeat_with") @implementation
public func vow_repeat_with(
    _ state: vow_value, _ again: (@convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool)!,
    _ step: vow_handler!, _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    repeatSteps(state, again, step, Caller(call, "vow_repeat_with"), "vow_repeat_with")
}

private func repeatSteps(
    _ state: vow_value, _ again: Condition?, _ step: Handler?, _ caller: Caller?,
    _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    checkValue(state, function)
    guard let again, let step, let caller else {
        let problem: StaticString =
            caller == nil ? wrongSize : again == nil ? "again is NULL" : "step is NULL"
        return refuse(caller, state, function, problem, thread)
    }
    let promise = repeatSteps(from: state, while: again, step, for: caller, thread)
    leave(thread)
    return OpaquePointer(promise)
}

@_cdecl("vow_retry") @implementation
public func vow_retry(
    _ policy: UnsafePointer<vow_retry_policy>!, _ fn: vow_handler!,
    _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    retry(policy, fn, Caller(context: context), "vow_retry")
}

@_cdecl("vow_retry_with") @implementation
public func vow_retry_with(
    _ policy: UnsafePointer<vow_retry_policy>!, _ fn: vow_handler!,
    _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    retry(policy, fn, Caller(call, "vow_retry_with"), "vow_retry_with")
}

private func retry(
    _ policy: UnsafePointer<vow_retry_policy>?, _ fn: Handler?, _ caller: Caller?,
    _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    guard let fn, let caller else {
        return refuse(
            caller, vow_none(), function, caller == nil ? wrongSize : "fn is NULL", thread)
    }
    var kept = RetryPolicy()
    if let policy {
        if !isSizeValid(policy.pointee.size, of: vow_retry_policy.self) {
            return refuse(
                caller, vow_none(), function, "policy->size is not the size of vow_retry_policy",
                thread)
        }
        guard let given = RetryPolicy(policy.pointee) else {
            return refuse(
                caller, vow_none(), function, "policy has a number out of range", thread)
        }
        kept = given
    }
    let promise = retry(kept, fn, for: caller, thread)
    leave(thread)
    return OpaquePointer(promise)
}

// MARK: Progress

@_cdecl("vow_on_progress_with") @implementation
public func vow_on_progress_with(
    _ promise: OpaquePointer!, _ interval_ns: Int64, _ fn: vow_progress_handler!,
    _ call: UnsafePointer<vow_call>!
) -> Int32 {
    let thread = currentThread()
    defer { leave(thread) }
    guard let caller = Caller(call, "vow_on_progress_with") else { return VOW_EINVAL }
    guard let record = promiseRecord(promise, "vow_on_progress_with"),
        let fn: vow_progress_handler = fn, interval_ns >= 0
    else {
        caller.giveUp(thread)
        return VOW_EINVAL
    }
    let isListening = listen(
        to: record, every: interval_ns, on: caller.executor, until: caller.token, fn,
        caller.context, caller.destroy, thread)
    return isListening ? 0 : VOW_ENOMEM
}

// MARK: Resources

@_cdecl("vow_using") @implementation
public func vow_using(
    _ resource: OpaquePointer!, _ use: vow_handler!, _ release: vow_handler!,
    _ context: UnsafeMutableRawPointer!,
    _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> OpaquePointer! {
    useResource(resource, use, release, Caller(context: context, destroy: destroy), "vow_using")
}

@_cdecl("vow_using_with") @implementation
public func vow_using_with(
    _ resource: OpaquePointer!, _ use: vow_handler!, _ release: vow_handler!,
    _ call: UnsafePointer<vow_call>!
) -> OpaquePointer! {
    useResource(resource, use, release, Caller(call, "vow_using_with"), "vow_using_with")
}

@_cdecl("vow_using_ended") @implementation
public func vow_using_ended(_ outcome: UnsafeMutablePointer<vow_value>!) -> Int32 {
    outcome?.pointee = vow_none()
    guard let end = endOfUse(currentThread()) else { return VOW_EINVAL }
    if !end.isUsed { return Int32(VOW_PENDING) }
    outcome?.pointee = end.outcome
    return Int32(end.outcome.isError ? VOW_REJECTED : VOW_FULFILLED)
}

private func useResource(
    _ resource: OpaquePointer?, _ use: Handler?, _ release: Handler?, _ caller: Caller?,
    _ function: StaticString
) -> OpaquePointer {
    let thread = currentThread()
    let record = consumedRecord(resource, function)
    guard let use, let release, let caller, let record else {
        let problem: StaticString =
            caller == nil
            ? wrongSize
            : record == nil ? "resource is NULL" : use == nil ? "use is NULL" : "release is NULL"
        record?.release(thread)
        return refuse(caller, vow_none(), function, problem, thread)
    }
    let promise = useResource(record, use, release, for: caller, thread)
    leave(thread)
    return OpaquePointer(promise)
}
