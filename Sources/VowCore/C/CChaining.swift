// Chapter 4 of vow.h: chaining.

import CVow

@_cdecl("vow_then") @implementation
public func vow_then(
    _ promise: OpaquePointer!, _ fn: vow_handler!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    link(promise, [.link, .onFulfilled], fn, context, "vow_then")
}

@_cdecl("vow_catch") @implementation
public func vow_catch(
    _ promise: OpaquePointer!, _ fn: vow_handler!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    link(promise, [.link, .onRejected], fn, context, "vow_catch")
}

@_cdecl("vow_finally") @implementation
public func vow_finally(
    _ promise: OpaquePointer!, _ fn: vow_handler!, _ context: UnsafeMutableRawPointer!
) -> OpaquePointer! {
    link(promise, [.link, .onFulfilled, .onRejected, .finally], fn, context, "vow_finally")
}

@inline(__always)
private func link(
    _ promise: OpaquePointer?, _ shape: Shape, _ fn: Handler?, _ context: UnsafeMutableRawPointer?,
    _ function: StaticString
) -> OpaquePointer? {
    let thread = currentThread()
    guard let fn, let record = consumedRecord(promise, function) else {
        return refuseLink(promise, function, thread)
    }
    let derived = react(to: record, shape, fn, context, thread)
    leave(thread)
    return OpaquePointer(derived)
}

@inline(never)
private func refuseLink(
    _ promise: OpaquePointer?, _ function: StaticString, _ thread: ThreadPointer
) -> OpaquePointer {
    if promise == nil { return invalidPromise(function, "promise is NULL", thread) }
    return refuse(promise, function, "fn is NULL", thread)
}

/// Consumes the promise, and says what was wrong with the call.
private func refuse(
    _ promise: OpaquePointer?, _ function: StaticString, _ problem: StaticString,
    _ thread: ThreadPointer
) -> OpaquePointer {
    let answer = invalidPromise(function, problem, thread)
    record(promise, function)?.release(thread)
    leave(thread)
    return answer
}

@_cdecl("vow_then_with") @implementation
public func vow_then_with(
    _ promise: OpaquePointer!, _ reaction: UnsafePointer<vow_reaction>!
) -> OpaquePointer! {
    let function: StaticString = "vow_then_with"
    let thread = currentThread()
    guard let reaction: UnsafePointer<vow_reaction> = reaction else {
        return refuse(promise, function, "reaction is NULL", thread)
    }
    // Shorter than ours: not even `destroy` can be trusted to be there.
    if !isSizeValid(reaction.pointee.size, of: vow_reaction.self) {
        return refuse(promise, function, "reaction->size is not the size of vow_reaction", thread)
    }
    let given = reaction.pointee
    let problem: StaticString? =
        promise == nil
        ? "promise is NULL"
        : given.flags & ~VOW_FINALLY != 0
            ? "reaction->flags has unknown bits" : nil
    if let problem {
        if let destroy = given.destroy { runForeign(thread) { destroy(given.context) } }
        return refuse(promise, function, problem, thread)
    }
    guard let record = consumedRecord(promise, function) else { return nil }
    let derived = react(to: record, Reaction(given), thread)
    leave(thread)
    return OpaquePointer(derived)
}

extension Reaction {
    fileprivate init(_ given: vow_reaction) {
        var shape: Shape = [.link, .extras]
        if given.on_fulfilled != nil { shape.insert(.onFulfilled) }
        if given.on_rejected != nil { shape.insert(.onRejected) }
        if given.flags & VOW_FINALLY != 0, !shape.isDisjoint(with: [.onFulfilled, .onRejected]) {
            shape.insert(.finally)
        }
        self.init(
            shape: shape, handler: given.on_fulfilled, context: given.context,
            executor: executorRecord(given.executor, "vow_then_with"),
            extras: LinkExtras(
                onRejected: given.on_rejected, destroy: given.destroy, label: given.label),
            token: tokenRecord(given.token, "vow_then_with"))
    }
}
