// Chapters 4 and 5 of vow.h: chaining; boxes, which are contexts shared by several links, with a count before them; waiting.

import CVow
import CVowPlatform

// MARK: Chaining

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

/// Consumes the promise, and rejects with the problem.
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
    // A shorter struct: not even `destroy` can be read.
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

// MARK: Contexts that links share

private struct SharedContext: ~Copyable {
    let count = AtomicWord(1)
    let size: Int
    let destroy: Destroy?
    #if VOW_CHECKED
        var seal = Seal.live(.box)
    #endif

    /// The context after the header is aligned as all memory is.
    static let header = (MemoryLayout<SharedContext>.size + 15) & ~15
}

@inline(__always)
private func shared(
    _ context: UnsafeMutableRawPointer?, _ function: StaticString
) -> UnsafeMutablePointer<SharedContext>? {
    guard let context else { return nil }
    let box = (context - SharedContext.header).assumingMemoryBound(to: SharedContext.self)
    #if VOW_CHECKED
        if box.pointee.seal != Seal.live(.box) {
            fatal(function, ": the box was released before (or is none)")
        }
    #endif
    return box
}

@_cdecl("vow_box_create") @implementation
public func vow_box_create(
    _ size: Int, _ destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!
) -> UnsafeMutableRawPointer! {
    _ = currentThread()
    guard canBeArray(size), let memory = takeMemory(SharedContext.header + size) else { return nil }
    memory.bindMemory(to: SharedContext.self, capacity: 1)
        .initialize(to: SharedContext(size: size, destroy: destroy))
    return memset(memory + SharedContext.header, 0, size)
}

@_cdecl("vow_box_retain") @implementation
public func vow_box_retain(_ box: UnsafeMutableRawPointer!) -> UnsafeMutableRawPointer! {
    // Relaxed: the caller has a reference.
    _ = shared(box, "vow_box_retain")?.pointee.count.addRelaxed(1)
    return box
}

@_cdecl("vow_box_release") @implementation
public func vow_box_release(_ box: UnsafeMutableRawPointer!) {
    guard let context = shared(box, "vow_box_release"),
        context.pointee.count.subtractAcquireRelease(1) == 1
    else { return }
    let thread = currentThread()
    if let destroy = context.pointee.destroy { runForeign(thread) { destroy(box) } }
    #if VOW_CHECKED
        context.pointee.seal = Seal.freed
    #endif
    giveMemoryBack(context, SharedContext.header + context.pointee.size)
    leave(thread)
}

// MARK: Waiting

@_cdecl("vow_await") @implementation
public func vow_await(
    _ promise: OpaquePointer!, _ timeout_ns: Int64, _ out: UnsafeMutablePointer<vow_value>!
) -> Int32 {
    out?.pointee = vow_none()
    guard let record = promiseRecord(promise, "vow_await"), timeout_ns >= Int64(VOW_FOREVER) else {
        return VOW_EINVAL
    }
    return wait(for: record, timeout: timeout_ns, running: nil, out)
}

@_cdecl("vow_take") @implementation
public func vow_take(
    _ promise: OpaquePointer!, _ timeout_ns: Int64, _ out: UnsafeMutablePointer<vow_value>!
) -> Int32 {
    out?.pointee = vow_none()
    guard let record = consumedRecord(promise, "vow_take") else { return VOW_EINVAL }
    let isValid = timeout_ns >= Int64(VOW_FOREVER)
    let answer =
        isValid ? wait(for: record, timeout: timeout_ns, running: nil, out) : VOW_EINVAL
    let thread = threadNow()
    if isValid && !record.pointee.state.read().hasValue {
        cancelUnlessRead(record, ownErrors.cancelled, thread)
    } else {
        record.release(thread)
    }
    leave(thread)
    return answer
}

/// Waits for a promise (borrowed), and runs a loop (borrowed) until then. Returns as vow_await and vow_loop_run_until do.
func wait(
    for record: RecordPointer, timeout: Int64, running loop: LoopPointer?,
    _ out: UnsafeMutablePointer<vow_value>?
) -> Int32 {
    // Inside a fiber, this thread may be another one after the wait.
    let thread = currentThread()
    if !record.pointee.state.read().hasValue {
        if timeout == 0 && loop == nil { return Int32(VOW_PENDING) }
        checkHandlersAreThere(thread)
        let result = waitHere(for: record, timeout: timeout, running: loop, thread)
        leave(threadNow())
        switch result {
        case .settled: break
        case .timedOut: return Int32(VOW_PENDING)
        case .deadlock: return VOW_EDEADLOCK
        case .forked: return VOW_EFORKED
        case .noThread: return VOW_ENOMEM
        case .shutDown: return VOW_ESHUTDOWN
        case .isBusy: return VOW_EINVAL
        case .ring: return VOW_ECYCLE
        case .cancelled(let error):
            if let out { out.pointee = error } else { error.release(threadNow()) }
            return Int32(VOW_REJECTED)
        }
    }
    let value = record.value
    if value.isError { record.pointee.isObserved.set() }
    out?.pointee = value.retained()
    return Int32(value.isError ? VOW_REJECTED : VOW_FULFILLED)
}

private func waitHere(
    for record: RecordPointer, timeout: Int64, running loop: LoopPointer?, _ thread: ThreadPointer
) -> WaitResult {
    if let fiber = fiberThatMayLeave(thread, running: loop) {
        return suspend(fiber, until: record, timeout: timeout < 0 ? nil : timeout, thread)
    }
    let deadline: Deadline = timeout < 0 ? .never : .after(timeout)
    guard let loop else { return wait(for: record, until: deadline, thread) }
    // A handler may destroy the loop.
    loop.retain()
    defer { loop.release(thread) }
    return wait(for: record, until: deadline, running: loop, thread)
}

@_cdecl("vow_nest_waits") @implementation
public func vow_nest_waits(_ nest: Bool) -> Bool {
    let thread = currentThread()
    let before = thread.pointee.nestsWaits
    thread.pointee.nestsWaits = nest
    return before
}

// MARK: Fibers

@_cdecl("vow_fiber") @implementation
public func vow_fiber(
    _ executor: OpaquePointer!, _ body: vow_handler!, _ context: UnsafeMutableRawPointer!,
    _ options: UnsafePointer<vow_fiber_options>!
) -> OpaquePointer! {
    let function: StaticString = "vow_fiber"
    let thread = currentThread()
    var given = vow_fiber_options()
    var problem: StaticString?
    if let options: UnsafePointer<vow_fiber_options> = options {
        if isSizeValid(options.pointee.size, of: vow_fiber_options.self) {
            given = options.pointee
        } else {
            problem = "options->size is not the size of vow_fiber_options"
        }
    }
    if given.stack < 0 || given.stack > mostStackSize {
        problem = "options->stack is more than a gigabyte"
    }
    if body == nil { problem = "body is NULL" }
    if let problem {
        let answer = invalidPromise(function, problem, thread)
        if let destroy = given.destroy { runForeign(thread) { destroy(context) } }
        leave(thread)
        return answer
    }
    let work = makeFiber(
        Reaction(
            shape: .ofFiber, handler: body, context: context,
            executor: executorRecord(executor, function),
            extras: LinkExtras(onRejected: nil, destroy: given.destroy, label: given.label),
            token: tokenRecord(given.token, function)),
        stackSize: given.stack == 0 ? defaultStackSize : given.stack, thread)
    leave(thread)
    return OpaquePointer(work)
}

@_cdecl("vow_fiber_yield") @implementation
public func vow_fiber_yield() -> Int32 {
    yieldFiber(currentThread()) ? 0 : VOW_EINVAL
}
