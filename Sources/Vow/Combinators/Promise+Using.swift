// An acquired resource is released: using.

import CVow
import VowCore

extension Promise where Failure == any Error {
    /// Runs `body` with the resource that this promise brings, and then, whatever comes of it, `release`.
    ///
    /// ```swift
    /// let rows = connections.acquire().using { try $0.query("…") } release: { connections.giveBack($0) }
    /// ```
    ///
    /// The outcome is that of `body`, and comes when `release` is through. A failing `release` rejects a success; beside
    /// another failure it is reported as unhandled. Cancelling stops this promise or `body`, and never `release`: a
    /// resource that comes all the same is released without being used. Without a resource nothing runs.
    ///
    /// `executor` runs both; nil: the one that a handler attached here would get.
    @_disfavoredOverload  // Closures that return promises have their own.
    public func using<Result>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> Result,
        release: @escaping @Sendable (Success) throws -> Void
    ) -> Promise<Result, any Error> {
        use(executor) { resource in
            outcome { () throws in try body(resource) }
        } release: { resource in
            outcome { () throws in try release(resource) }
        }
    }

    /// The same with a promise made by `body`: `release` waits for it.
    public func using<Result, Other: Error>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> Promise<Result, Other>,
        release: @escaping @Sendable (Success) throws -> Void
    ) -> Promise<Result, any Error> {
        use(executor) { resource in
            outcome(followedBy: (any Error).self) { () throws in try body(resource) }
        } release: { resource in
            outcome { () throws in try release(resource) }
        }
    }

    /// The same with promises made by both closures: the whole waits for them.
    public func using<Result, Other: Error, Ignored, Releasing: Error>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> Promise<Result, Other>,
        release: @escaping @Sendable (Success) throws -> Promise<Ignored, Releasing>
    ) -> Promise<Result, any Error> {
        use(executor) { resource in
            outcome(followedBy: (any Error).self) { () throws in try body(resource) }
        } release: { resource in
            outcome(followedBy: (any Error).self) { () throws in try release(resource) }
        }
    }

    private func use<Result>(
        _ executor: PromiseExecutor?, _ body: @escaping @Sendable (Success) -> vow_value,
        release: @escaping @Sendable (Success) -> vow_value
    ) -> Promise<Result, any Error> {
        use(
            executor, whole: { input in reading(input) { (resource: Success) in body(resource) } },
            release: { input in reading(input) { (resource: Success) in release(resource) } })
    }

    /// `using` for the resource (borrowed) as C has it.
    func use<Result>(
        _ executor: PromiseExecutor?, whole body: @escaping @Sendable (vow_value) -> vow_value,
        release: @escaping @Sendable (vow_value) -> vow_value
    ) -> Promise<Result, any Error> {
        let use = Use(body: body, release: release)
        return running(use, on: executor) { caller in
            usingWith(caller, retainedPointer(), Use.runBody, Use.runRelease)
        }
    }
}

/// How the use of a resource has ended, for its release: see `using` of ``Promise``.
public enum EndOfUse: Sendable {
    /// The use was cancelled before it began.
    case unused
    case fulfilled
    /// With `CancellationError` where it was cancelled.
    case failed(any Error)

    /// The end of the use whose release is running; nil anywhere else, also in handlers that run inside of it.
    ///
    /// ```swift
    /// let saved = database.begin().using { try $0.write(row) } release: { transaction in
    ///     if case .fulfilled = EndOfUse.current { try transaction.commit() } else { transaction.rollBack() }
    /// }
    /// ```
    public static var current: EndOfUse? {
        guard let end = useThatEnded() else { return nil }
        if !end.isUsed { return .unused }
        return end.outcome.kind == VOW_ERROR ? .failed(decodeError(end.outcome)) : .fulfilled
    }
}

/// The closures of one use. The inputs are borrowed, the results owned.
private struct Use: Sendable {
    let body: @Sendable (vow_value) -> vow_value
    let release: @Sendable (vow_value) -> vow_value

    static let runBody: vow_handler = { input, context in use(context).body(input) }
    static let runRelease: vow_handler = { input, context in use(context).release(input) }

    private static func use(_ context: UnsafeMutableRawPointer?) -> Use {
        guard let context else { fatalError("a use has lost its closures") }
        return context.assumingMemoryBound(to: Use.self).pointee
    }
}
