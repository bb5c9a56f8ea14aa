// Blocking until a promise settles.

import CVow

extension Promise {
    /// Blocks the thread until the promise is settled. For tests, tools and other code that must not go on. The wait runs
    /// the loop on the thread of an event loop, and the main actor's work on the main thread. A fiber, or a handler of
    /// a loop, is suspended instead. Without a time-out a closure on the pool for which the promise waits may run on this
    /// thread, if no thread of the pool has begun it.
    ///
    /// - Parameter timeout: the longest wait.
    /// - Throws: the failure; ``PromiseError/timedOut(lastError:)`` when the time is up; ``PromiseError/deadlock`` if the
    ///   wait would block the work that it waits for, or complete a ring of handlers that wait for each other. In a fiber
    ///   also `CancellationError` when the fiber is cancelled, ``PromiseError/cycle`` if it would wait for itself, and
    ///   ``PromiseError/shutDown`` when its executor is gone.
    @available(*, noasync, message: "a task awaits `value` instead")
    @discardableResult
    public func wait(timeout: Duration? = nil) throws -> Success {
        var value = vow_none()
        let rest = servingMainActor(timeout.coreTimeout) { vow_await($0, $1, nil) }
        let answer = withPointer { vow_await($0, rest, &value) }
        defer { vow_value_release(value) }
        switch answer {
        case Int32(VOW_FULFILLED), Int32(VOW_REJECTED):
            let result: Result<Success, any Error>? = readResult(value)
            guard let result else { fatalError("any error stands for itself") }
            return try result.get()
        case Int32(VOW_PENDING): throw PromiseError.timedOut
        case VOW_EDEADLOCK: throw PromiseError.deadlock
        case VOW_EFORKED: throw PromiseError.forked
        case VOW_ECYCLE: throw PromiseError.cycle
        case VOW_ESHUTDOWN: throw PromiseError.shutDown
        case VOW_ENOMEM: throw PromiseError.outOfMemory
        default: throw PromiseError.invalidArgument("wait: a negative time-out")
        }
    }
}
