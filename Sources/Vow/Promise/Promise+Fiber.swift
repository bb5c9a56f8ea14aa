// Fibers: synchronous code that waits without holding its thread.

import CVow

extension Promise {
    /// Runs `body` as a fiber: on a stack of its own, and on an executor (nil: that of a handler attached here). For code
    /// that has to call synchronous functions, of C for example; other code awaits in a task.
    ///
    /// In `body` ``wait(timeout:)`` suspends the fiber and frees its thread: the executor goes on with other work, and
    /// later with the fiber. On an event loop a fiber stays on the loop's thread; elsewhere it may be on another thread
    /// after a wait. So nothing that belongs to a thread may be held across a wait: a lock, a task-local value bound by
    /// `withValue`, an `inout` access to a property of a class or to a global variable. A wait in a handler that runs
    /// inline, inside a call of `body`, blocks the thread.
    ///
    /// ```swift
    /// let page = Promise.fiber(on: .pool) {
    ///     let head = try fetchPage("/head").wait(timeout: .seconds(5))
    ///     return head + (try fetchPage("/body").wait())
    /// }
    /// ```
    ///
    /// Once the promise is cancelled, waits in `body` throw `CancellationError`, except for those of a ``shielded()``
    /// promise. The promise settles when `body` has returned and what it captured is gone.
    ///
    /// - Parameter stack: bytes, 1 GiB at most. A write beyond the stack's end ends the process.
    /// - Returns: the promise of the result. An error thrown by `body` rejects it; so do a wrong `stack`
    ///   (``PromiseError/invalidArgument(_:)``) and no memory for one (``PromiseError/outOfMemory``).
    public static func fiber(
        on executor: PromiseExecutor? = nil, stack: Int = 64 << 10,
        _ body: @escaping @Sendable () throws(Failure) -> Success
    ) -> Promise {
        if stack <= 0 { return .refused("Promise.fiber: stack is not positive") }
        let work = FiberBody { outcome { () throws(Failure) in try body() } }
        var options = vow_fiber_options()
        options.size = MemoryLayout<vow_fiber_options>.size
        options.stack = stack
        options.destroy = { Unmanaged<FiberBody>.fromOpaque($0.unsafelyUnwrapped).release() }
        let context = Unmanaged.passRetained(work).toOpaque()
        return PromiseExecutor.withPointer(executor) { executor in
            Promise(
                owned: vow_fiber(
                    executor,
                    { _, context in
                        let body = Unmanaged<FiberBody>.fromOpaque(context.unsafelyUnwrapped)
                        return body.takeUnretainedValue().body()
                    }, context, &options))
        }
    }
}

/// The fiber that calls.
public enum PromiseFiber {
    /// Lets the executor of the calling fiber do other work first.
    ///
    /// - Returns: false if the caller is no fiber; then nothing happens.
    @available(*, noasync, message: "a task calls `Task.yield()`")
    @discardableResult
    public static func yield() -> Bool { vow_fiber_yield() == 0 }
}

/// The context of a fiber.
private final class FiberBody: Sendable {
    let body: @Sendable () -> vow_value

    init(_ body: @escaping @Sendable () -> vow_value) { self.body = body }
}
