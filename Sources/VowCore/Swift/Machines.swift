// The combinators that run functions, for the Swift face: with an executor of their own and a context that is
// counted.

import CVow

/// Whose functions run, and where. `owner` (consumed) is a value that keeps `context` alive.
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

    /// No machine was made.
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

/// As vow_retry. Nil, and nothing is consumed: there is a wrong number in the policy.
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

/// As vow_using_ended. Nil outside of a release; the outcome is borrowed.
package func useThatEnded() -> (isUsed: Bool, outcome: vow_value)? { endOfUse(currentThread()) }

private func outermost(_ body: (ThreadPointer) -> RecordPointer) -> OpaquePointer {
    let thread = currentThread()
    let promise = body(thread)
    leave(thread)
    return OpaquePointer(promise)
}
