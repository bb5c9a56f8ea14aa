// What travels along a chain: each reaction takes what was set where it was made. That is a context, the program's own, and
// the scope that it is made under.

import CVow

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == ThreadState {
    /// A context or a scope.
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

/// A user's function in the middle of a piece of work: what it sets ends with it.
@inline(__always)
func keepingContext<Result>(_ body: () -> Result) -> Result {
    let thread = currentThread()
    let carried = thread.pointee.context.retained()
    let result = body()
    setContext(carried, thread)
    return result
}

/// The thread's, both owned: the scope by a producer's reference.
func surroundingsHere(_ thread: ThreadPointer) -> Surroundings {
    Surroundings(context: thread.pointee.context, scope: thread.pointee.scope).retained()
}

/// The thread's become others. Neither is counted: what they were goes to the caller.
@inline(__always)
@discardableResult
func exchangeSurroundings(_ surroundings: Surroundings, _ thread: ThreadPointer) -> Surroundings {
    let before = Surroundings(context: thread.pointee.context, scope: thread.pointee.scope)
    thread.pointee.context = surroundings.context
    thread.pointee.scope = surroundings.scope
    return before
}

/// The program's code runs with what it was given with (owned, consumed; nil: nothing). What it sets ends with it.
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

    /// Of owned ones.
    func release(_ thread: ThreadPointer) {
        context.release(thread)
        scope?.releaseProducer(thread)
    }
}

/// What is made in the body is made under a scope (its end, borrowed).
func under<Result>(_ scope: RecordPointer, _ thread: ThreadPointer, _ body: () -> Result) -> Result
{
    let outer = exchangeScope(scope, thread)
    defer { exchangeScope(outer, thread) }
    return body()
}

/// Returns the one before; nil: none.
@discardableResult
func exchangeScope(_ scope: RecordPointer?, _ thread: ThreadPointer) -> RecordPointer? {
    let before = thread.pointee.scope
    thread.pointee.scope = scope
    thread.pointee.context.reserved &= ~Surroundings.scopeMark
    if scope != nil { thread.pointee.context.reserved |= Surroundings.scopeMark }
    return before
}
