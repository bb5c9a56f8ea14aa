// Reactions for the Swift face: the closure travels inside the link.

import CVow

/// Which outcomes a reaction handles, and how.
package enum ReactionKind {
    case onFulfilled, onRejected, onBoth, finally
    /// On both, but a rejection is not handled by that.
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

/// What a reaction runs: `context` points to `size` bytes that are moved into the link; `run` and `destroy`, if there is one, get
/// their address there.
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

/// Of a link that was made with a closure, and not without memory: where its bytes stand for as long as it lives.
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
