// Where handlers run.

import CVow

/// Runs handlers: at once, on a pool, on a queue, an actor, an event loop, or anything of the program's own.
///
/// A handler without an executor runs on the one of the handler that attached it, on the thread of an event loop on the
/// loop, elsewhere on the standard one: the pool, unless ``setStandard(_:)`` has set another one.
public struct PromiseExecutor: Sendable {
    let handle: Handle

    init(handle: Handle) { self.handle = handle }

    /// Takes a reference (consumed) over; nil: there was no memory, which later means "none given".
    init?(owned executor: OpaquePointer?) {
        guard let executor else { return nil }
        handle = Handle(executor, release: vow_executor_release)
    }

    /// Of a reference that somebody else has.
    init(borrowed executor: OpaquePointer) {
        vow_executor_retain(executor)
        handle = Handle(executor, release: vow_executor_release)
    }

    @inline(__always)
    static func withPointer<Result>(
        _ executor: PromiseExecutor?, _ body: (OpaquePointer?) -> Result
    ) -> Result {
        executor?.handle.withPointer(body) ?? body(nil)
    }
}

extension PromiseExecutor {
    /// At once, on the thread that settles or attaches, as the last act of its outermost call to the library.
    public static let inline = PromiseExecutor(borrowed: vow_executor_inline())

    /// libdispatch's global queue: handlers run in parallel.
    public static let pool = PromiseExecutor(borrowed: vow_executor_pool())

    /// The main queue, which the program must run.
    @_disfavoredOverload  // Of closures that are the main actor's.
    public static let main = PromiseExecutor(borrowed: vow_executor_main())

    /// The executor that a handler attached here and now would run on.
    public static var current: PromiseExecutor {
        PromiseExecutor(borrowed: vow_executor_current())
    }

    /// A new queue of its own: one handler at a time, in order.
    public static func serial(_ label: String = "vow.serial") -> PromiseExecutor {
        PromiseExecutor(owned: vow_executor_serial(label)) ?? .pool
    }

    /// What handlers attached outside of any handler run on, in the whole process. Meant for programs, not for
    /// libraries in them.
    public static func setStandard(_ executor: PromiseExecutor?) {
        withPointer(executor) { vow_executor_set_default($0) }
    }
}

extension PromiseExecutor: Hashable {
    public static func == (left: PromiseExecutor, right: PromiseExecutor) -> Bool {
        left.handle.pointer == right.handle.pointer
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(handle.pointer)
    }
}
