// Where handlers run.

import CVow

/// Runs handlers: at once, on a pool, on a queue, an actor, an event loop, or by the program's own means.
///
/// A handler without an executor runs on the executor of the handler that attached it, on the loop if it was attached
/// on an event loop's thread, and elsewhere on the standard executor: the pool, unless ``setStandard(_:)`` has changed
/// it.
public struct PromiseExecutor: Sendable {
    /// The predefined executors are not counted.
    @usableFromInline
    enum Place: Sendable {
        case inline, pool
        case made(Handle)
    }

    @usableFromInline let place: Place

    @inlinable
    init(_ place: Place) { self.place = place }

    init(handle: Handle) { place = .made(handle) }

    /// Takes a reference (consumed) over; nil: there was no memory, which later means "none given".
    init?(owned executor: OpaquePointer?) {
        guard let executor else { return nil }
        place = .made(Handle(executor, release: vow_executor_release))
    }

    /// Wraps a reference that the caller keeps.
    init(borrowed executor: OpaquePointer) {
        vow_executor_retain(executor)
        place = .made(Handle(executor, release: vow_executor_release))
    }

    var handle: Handle {
        switch place {
        case .inline: PromiseExecutor.inlineHandle
        case .pool: PromiseExecutor.poolHandle
        case .made(let handle): handle
        }
    }

    private static let inlineHandle = PromiseExecutor(borrowed: vow_executor_inline()).handle
    private static let poolHandle = PromiseExecutor(borrowed: vow_executor_pool()).handle

    @inline(__always)
    static func withPointer<Result>(
        _ executor: PromiseExecutor?, _ body: (OpaquePointer?) -> Result
    ) -> Result {
        switch executor?.place {
        case nil: body(nil)
        case .inline: body(vow_executor_inline())
        case .pool: body(vow_executor_pool())
        case .made(let handle): handle.withPointer(body)
        }
    }
}

extension PromiseExecutor {
    /// At once, on the thread that settles or attaches, as the last act of its outermost call to the library.
    @inlinable public static var inline: PromiseExecutor { PromiseExecutor(.inline) }

    /// libdispatch's global queue: handlers run in parallel.
    @inlinable public static var pool: PromiseExecutor { PromiseExecutor(.pool) }

    /// The main queue, which the program must run.
    @_disfavoredOverload  // VowPromiseKit's is for closures of the main actor.
    public static let main = PromiseExecutor(borrowed: vow_executor_main())

    /// The executor that a handler attached here and now would run on.
    public static var current: PromiseExecutor {
        PromiseExecutor(borrowed: vow_executor_current())
    }

    /// A new queue of its own: one handler at a time, in order.
    public static func serial(_ label: String = "vow.serial") -> PromiseExecutor {
        PromiseExecutor(owned: vow_executor_serial(label)) ?? .pool
    }

    /// Sets the executor of handlers attached outside of any handler, in the whole process. Meant for programs, not for
    /// libraries in them.
    public static func setStandard(_ executor: PromiseExecutor?) {
        withPointer(executor) { vow_executor_set_default($0) }
    }
}

extension PromiseExecutor: Hashable {
    public static func == (left: PromiseExecutor, right: PromiseExecutor) -> Bool {
        withPointer(left) { left in withPointer(right) { left == $0 } }
    }

    public func hash(into hasher: inout Hasher) {
        PromiseExecutor.withPointer(self) { hasher.combine($0) }
    }
}
