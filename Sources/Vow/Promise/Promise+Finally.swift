// Whatever comes: finally.

public import CVow

extension Promise {
    /// Runs `body` once the promise is settled, either way, and passes its result on. What `body` throws takes its place.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func finally(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Void
    ) -> Promise {
        react(.finally, on: executor, token, Finally(body: body))
    }

    /// The same with a promise that `body` makes, which is waited for; its failure takes the result's place.
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        react(.finally, on: executor, token, FinallyWithPromise(body: body))
    }

    /// The same with a promise that cannot fail: it is waited for.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Promise<Ignored, Never>
    ) -> Promise {
        react(.finally, on: executor, token, FinallyWithPromise(body: body))
    }

    /// The same with a promise whose failure is of another type. The failure may be either.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () throws(Failure) -> Promise<Ignored, Other>
    ) -> Promise<Success, any Error> {
        react(.finally, on: executor, token, FinallyWithPromise(body: body))
    }
}

extension Promise where Failure == Never {
    /// The same with a promise that may fail. So may what comes of it, then.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func finally<Ignored, NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable () -> Promise<Ignored, NewFailure>
    ) -> Promise<Success, NewFailure> {
        react(.finally, on: executor, token, FinallyWithPromise(body: body))
    }
}

@usableFromInline
struct Finally<Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable () throws(Failure) -> Void

    @inlinable
    init(body: @escaping @Sendable () throws(Failure) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        outcome { () throws(Failure) in try body() }
    }
}

@usableFromInline
struct FinallyWithPromise<Ignored: Sendable, Failure: Error, Inner: Error>: Reactor {
    @usableFromInline let body: @Sendable () throws(Failure) -> Promise<Ignored, Inner>

    @inlinable
    init(body: @escaping @Sendable () throws(Failure) -> Promise<Ignored, Inner>) {
        self.body = body
    }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        outcomeOfPromise { () throws(Failure) in try body() }
    }
}
