// vow_catch_if and vow_shield.
//
// vow_catch_if makes a reaction that compares an error's domain and code before it calls the program's function. vow_shield
// makes a link without handlers, which waits for a promise and does not cancel it: see `isShield`.

import CVow
import CVowPlatform

// MARK: vow_catch_if

/// The domain follows the struct.
private struct Filter {
    let fn: Handler
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy?
    let code: Int64
    /// Nil matches every domain.
    let domainLength: Int?
    let size: Int

    func matches(_ error: vow_value, _ domain: UnsafePointer<CChar>) -> Bool {
        guard let box = error.box(of: VOW_ERROR) else { return false }
        let part = box.part(ErrorPart.self).pointee
        if code != Int64.min && code != part.code { return false }
        guard let domainLength else { return true }
        return domainLength == part.domainLength && memcmp(domain, box.domain, domainLength) == 0
    }
}

/// - Parameters: promise is consumed, domain is borrowed.
func catchErrors(
    of promise: RecordPointer, domain: UnsafePointer<CChar>?, code: Int64,
    _ fn: @escaping Handler, for caller: Caller, _ thread: ThreadPointer
) -> RecordPointer {
    let length = domain.map { strlen($0) }
    let size = MemoryLayout<Filter>.stride + (length ?? 0)
    guard let memory = takeMemory(size) else {
        promise.release(thread)
        caller.giveUp(thread)
        return promiseWithoutMemory
    }
    let filter = memory.bindMemory(to: Filter.self, capacity: 1)
    filter.initialize(
        to: Filter(
            fn: fn, context: caller.context, destroy: caller.destroy, code: code,
            domainLength: length, size: size))
    var destroy: Destroy = destroyFilter
    if caller.destroy == nil { destroy = freeFilter }
    if let domain, let length { memcpy(filter + 1, domain, length) }
    return react(
        to: promise,
        Reaction(
            shape: [.link, .extras, .onRejected], handler: nil, context: memory,
            executor: caller.executor,
            extras: LinkExtras(
                onRejected: runIfMatching, destroy: destroy, label: caller.label),
            token: caller.token),
        thread)
}

private func runIfMatching(
    _ error: vow_value, _ context: UnsafeMutableRawPointer?
) -> vow_value {
    guard let context else { fatal("a filter is missing") }
    let memory = context.assumingMemoryBound(to: Filter.self)
    let domain = UnsafeRawPointer(memory + 1).assumingMemoryBound(to: CChar.self)
    let filter = memory.pointee
    if !filter.matches(error, domain) { return error.retained() }
    if filter.destroy == nil { forget(context, filter.size) }
    return filter.fn(error, filter.context)
}

/// The program has no context to destroy, so the link keeps nothing while it waits for the result of `fn`, and a recursion
/// stays flat. The link's handler runs on this thread; until it returns, no other thread looks at `destroy`.
private func forget(_ filter: UnsafeMutableRawPointer, _ size: Int) {
    guard let frame = currentThread().pointee.frame else { fatal("a filter without a handler") }
    frame.pointee.reaction.extras.pointee.destroy = nil
    giveMemoryBack(filter, size)
}

/// Frees a filter without a context of the program's.
func freeFilter(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    giveMemoryBack(context, context.assumingMemoryBound(to: Filter.self).pointee.size)
}

private func destroyFilter(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    let filter = context.assumingMemoryBound(to: Filter.self).pointee
    giveMemoryBack(context, filter.size)
    filter.destroy?(filter.context)
}

// MARK: vow_shield

/// Returns a promise (owned) that settles as `promise` (consumed) does. Cancelling it does not cancel `promise`.
func shield(_ promise: RecordPointer, _ thread: ThreadPointer) -> RecordPointer {
    react(
        to: promise,
        Reaction(
            shape: [.link, .finally], handler: nil, context: nil, executor: ownExecutors.inline),
        thread)
}
