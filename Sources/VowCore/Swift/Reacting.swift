// The functions that the Swift face calls: reactions, combinators, scopes, listeners, tracing. A reaction's closure travels
// inside the link: its bytes are moved there before the link is registered, read by the one thread that has begun the link, and
// destroyed by the thread that destroys the context. A combinator that runs functions gets an executor and a counted context; a
// listener gets an executor.

import CVow

// MARK: Reactions

/// The outcomes that a reaction handles.
package enum ReactionKind {
    case onFulfilled, onRejected, onBoth, finally
    /// As `onBoth`, but the rejection stays unhandled.
    case onBothForValue

    fileprivate var shape: Shape {
        switch self {
        case .onFulfilled: [.link, .extras, .onFulfilled]
        case .onRejected: [.link, .extras, .onRejected]
        case .onBoth, .onBothForValue: [.link, .extras, .onFulfilled, .onRejected]
        case .finally: [.link, .extras, .onFulfilled, .onRejected, .finally]
        }
    }
}

/// The closure of a reaction. `context` points to `size` bytes that are moved into the link; `run` and `destroy` get their
/// address there.
package struct CarriedClosure {
    package static let size = CarriedContext.size

    let context: UnsafeMutableRawPointer
    let run: vow_handler
    let destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?

    package init(
        _ context: UnsafeMutableRawPointer, run: @escaping vow_handler,
        destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil
    ) {
        self.context = context
        self.run = run
        self.destroy = destroy
    }

    fileprivate func reaction(
        _ kind: ReactionKind, on executor: OpaquePointer?, token: OpaquePointer?
    ) -> Reaction {
        Reaction(
            shape: kind.shape, handler: run, context: context,
            executor: ExecutorPointer(executor),
            extras: LinkExtras(onRejected: run, destroy: destroy, label: nil),
            token: SourcePointer(token), seesRejections: kind != .onBothForValue,
            carries: true)
    }
}

/// Registers a closure (consumed) on a promise (consumed). The new promise is owned.
package func reactWith(
    _ closure: CarriedClosure, to promise: OpaquePointer, _ kind: ReactionKind,
    on executor: OpaquePointer?, token: OpaquePointer?
) -> OpaquePointer {
    let thread = currentThread()
    let derived = react(
        to: RecordPointer(promise), closure.reaction(kind, on: executor, token: token), thread)
    leave(thread)
    return OpaquePointer(derived)
}

/// The address of a link's closure, valid while the link lives. The link was made with one, and not without memory.
package func carriedBytes(of link: OpaquePointer) -> UnsafeMutableRawPointer {
    RecordPointer(link).link.pointee.context.unsafelyUnwrapped
}

/// Runs a closure (consumed) on an executor. The promise of its result is owned.
package func workWith(
    _ closure: CarriedClosure, on executor: OpaquePointer?
) -> OpaquePointer {
    let thread = currentThread()
    let reaction = closure.reaction(.onFulfilled, on: executor, token: nil)
    let work = makeWork(reaction, thread)
    leave(thread)
    return OpaquePointer(work)
}

// MARK: Fibers

/// Whether a wait here that runs this loop (borrowed; nil: none) suspends its caller. Else it blocks the thread.
package func waitSuspends(running loop: OpaquePointer?) -> Bool {
    let thread = currentThread()
    let loop = LoopPointer(loop)
    if fiberThatMayLeave(thread, running: loop) != nil { return true }
    if let loop { return fiberPinned(to: loop, thread) != nil }
    guard let loop = loopHere(thread) else { return false }
    defer { loop.release(thread) }
    return fiberPinned(to: loop, thread) != nil
}

// MARK: The combinators that run functions

/// The context and executor of the program's functions. `owner` (consumed) is a value that keeps `context` alive.
package struct SwiftCaller {
    let context: UnsafeMutableRawPointer
    let owner: vow_value
    let executor: OpaquePointer?

    package init(
        context: UnsafeMutableRawPointer, owner: vow_value, executor: OpaquePointer?
    ) {
        self.context = context
        self.owner = owner
        self.executor = executor
    }

    /// Releases the owner if no machine was made.
    package func giveUp() {
        let thread = currentThread()
        owner.release(thread)
        leave(thread)
    }

    fileprivate var caller: Caller {
        Caller(context: context, contextOwner: owner, executor: ExecutorPointer(executor))
    }
}

/// As vow_map.
package func mapWith(
    _ caller: SwiftCaller, _ list: vow_value, concurrency: Int, _ fn: vow_handler
) -> OpaquePointer {
    outermost { mapList(list, fn, for: caller.caller, concurrency: concurrency, $0) }
}

/// As vow_reduce. The promises are consumed.
package func reduceWith(
    _ caller: SwiftCaller, _ promises: [OpaquePointer?], from initial: vow_value,
    _ fn: vow_reducer
) -> OpaquePointer {
    outermost { thread in
        promises.withUnsafeBufferPointer {
            reduce($0, from: initial, fn, for: caller.caller, thread)
        }
    }
}

/// As vow_repeat.
package func repeatWith(
    _ caller: SwiftCaller, from state: vow_value,
    while again: @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Bool, _ step: vow_handler
) -> OpaquePointer {
    outermost { repeatSteps(from: state, while: again, step, for: caller.caller, $0) }
}

/// As vow_retry. Returns nil and consumes nothing if the policy has a wrong number.
package func retryWith(
    _ caller: SwiftCaller, _ policy: vow_retry_policy, _ fn: vow_handler
) -> OpaquePointer? {
    guard let policy = RetryPolicy(policy) else { return nil }
    return outermost { retry(policy, fn, for: caller.caller, $0) }
}

/// As vow_using. The promise is consumed.
package func usingWith(
    _ caller: SwiftCaller, _ resource: OpaquePointer, _ use: vow_handler, _ release: vow_handler
) -> OpaquePointer {
    outermost { useResource(RecordPointer(resource), use, release, for: caller.caller, $0) }
}

/// As vow_using_ended. Returns nil outside of a release; the outcome is borrowed.
package func useThatEnded() -> (isUsed: Bool, outcome: vow_value)? { endOfUse(currentThread()) }

private func outermost(_ body: (ThreadPointer) -> RecordPointer) -> OpaquePointer {
    let thread = currentThread()
    let promise = body(thread)
    leave(thread)
    return OpaquePointer(promise)
}

// MARK: Scopes

/// As vow_scope_add, but a promise (consumed) that comes after the end is not cancelled.
package func addInTime(_ promise: OpaquePointer, to scope: OpaquePointer) -> Bool {
    let thread = currentThread()
    let result = add(RecordPointer(promise), to: ScopePointer(scope), cancelsLate: false, thread)
    leave(thread)
    if case .added = result { return true }
    return false
}

/// Everything that `body` creates is created under the scope (borrowed).
package func makingUnder<Result, Failure: Error>(
    _ scope: OpaquePointer, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    let outer = exchangeScope(ScopePointer(scope).promise, currentThread())
    // A fiber may have come to another thread.
    defer { exchangeScope(outer, threadNow()) }
    return try body()
}

// MARK: Progress

/// As vow_on_progress_with. The interval is not negative. Returns false without memory; the context is destroyed then.
package func listenWith(
    _ context: UnsafeMutableRawPointer, _ tell: @escaping vow_progress_handler,
    destroy: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void,
    to promise: OpaquePointer, every interval: Int64, on executor: OpaquePointer?,
    until token: OpaquePointer?
) -> Bool {
    let thread = currentThread()
    defer { leave(thread) }
    return listen(
        to: RecordPointer(promise), every: interval, on: ExecutorPointer(executor),
        until: SourcePointer(HandleMark.unmarked(token)), tell, context, destroy, thread)
}

// MARK: Work that a custom executor was given and has lost

/// Called instead of `run(work)`: rejects the work's promise with VOW_ESHUTDOWN; the handler never runs.
package func refuseWork(_ work: UnsafeMutableRawPointer) {
    let reaction = work.assumingMemoryBound(to: Record.self)
    let thread = currentThread()
    asOneStep(thread) { refuse(reaction, .shutDown, thread) }
    leave(thread)
}

// MARK: Tracing: whether it is on, and the live graph in memory

/// Enters first: the environment may switch tracing on at the first use of the library.
package func isTraceOn() -> Bool {
    _ = currentThread()
    return isTracing
}

/// Calls body with the text of the live graph and its length. Returns false when tracing is off, nil without memory.
package func withLiveGraph(
    asJSON: Bool, _ body: (UnsafePointer<CChar>, Int) -> Void
) -> Bool? {
    _ = currentThread()
    let result = withGraph(asJSON: asJSON) { lines in
        lines.withText(body)
        return 0
    }
    return result == VOW_ENOMEM ? nil : result == 0
}
