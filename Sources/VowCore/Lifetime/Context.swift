// The surroundings that travel along a chain: a context, set by the program, and a scope. Each reaction takes its maker's.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    @inline(__always)
    var carriesSomething: Bool {
        withUnsafeBytes(of: &pointee.context) { $0.load(as: UInt64.self) != 0 }
    }
}

/// Sets the thread's context (consumed).
func setContext(_ context: vow_value, _ thread: ThreadPointer) {
    var context = context
    context.reserved &= ~Surroundings.scopeMark
    let before = thread.pointee.context
    thread.pointee.context = context
    // The scope stays.
    thread.pointee.context.reserved |= before.reserved & Surroundings.scopeMark
    before.release(thread)
}

/// Ends a context that a user's function sets within a piece of work.
@inline(__always)
func keepingContext<Result>(_ body: () -> Result) -> Result {
    let thread = currentThread()
    let carried = thread.pointee.context.retained()
    let result = body()
    setContext(carried, thread)
    return result
}

/// The thread's surroundings, both owned: the scope by a producer's reference.
func surroundingsHere(_ thread: ThreadPointer) -> Surroundings {
    Surroundings(context: thread.pointee.context, scope: thread.pointee.scope).retained()
}

/// Exchanges the thread's surroundings. Counts nothing: the caller gets the references of the old ones.
@inline(__always)
@discardableResult
func exchangeSurroundings(_ surroundings: Surroundings, _ thread: ThreadPointer) -> Surroundings {
    let before = Surroundings(context: thread.pointee.context, scope: thread.pointee.scope)
    thread.pointee.context = surroundings.context
    thread.pointee.scope = surroundings.scope
    return before
}

/// Runs the program's code with its surroundings (owned, consumed; nil: none). A context that it sets ends with it.
@inline(__always)
func carrying(_ surroundings: Surroundings?, _ thread: ThreadPointer, _ body: () -> Void) {
    if surroundings != nil || thread.carriesSomething {
        carryingIndeed(surroundings ?? Surroundings(), thread, body)
        return
    }
    body()
    if thread.pointee.context.kind != VOW_NONE { setContext(vow_none(), thread) }
}

@inline(never)
private func carryingIndeed(_ given: Surroundings, _ thread: ThreadPointer, _ body: () -> Void) {
    let outer = exchangeSurroundings(given, thread)
    body()
    let mine = exchangeSurroundings(outer, thread)
    mine.context.release(thread)
    given.scope?.releaseProducer(thread)
}

extension Surroundings {
    func retained() -> Surroundings {
        scope?.retainProducer()
        return Surroundings(context: context.retained(), scope: scope)
    }

    func release(_ thread: ThreadPointer) {
        context.release(thread)
        scope?.releaseProducer(thread)
    }
}

/// Promises made in the body are made under a scope (its end, borrowed).
func under<Result>(_ scope: RecordPointer, _ thread: ThreadPointer, _ body: () -> Result) -> Result
{
    let outer = exchangeScope(scope, thread)
    defer { exchangeScope(outer, thread) }
    return body()
}

/// Returns the scope before; nil: none.
@discardableResult
func exchangeScope(_ scope: RecordPointer?, _ thread: ThreadPointer) -> RecordPointer? {
    let before = thread.pointee.scope
    thread.pointee.scope = scope
    thread.pointee.context.reserved &= ~Surroundings.scopeMark
    if scope != nil { thread.pointee.context.reserved |= Surroundings.scopeMark }
    return before
}
