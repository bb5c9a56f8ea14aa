// Going on after a failure: recover.

import CVow

extension Promise {
    /// The promise of the value, or of what `body` makes of the failure. `body` may throw.
    public func recover(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Success
    ) -> Promise {
        react(.onRejected, on: executor, token, Recovering(body: body))
    }

    /// The same with a promise that `body` makes, which is waited for.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    public func recover(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Promise
    ) -> Promise {
        react(.onRejected, on: executor, token, RecoveringWithPromise(body: body))
    }

    /// The same where a promise that cannot fail is asked for.
    @_disfavoredOverload  // Else what follows it could not throw.
    public func recover(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Success
    ) -> Promise<Success, Never> {
        react(.onRejected, on: executor, token, Recovering(body: body))
    }

    /// The value, or another one instead of a failure.
    public func recover(with value: Success) -> Promise<Success, Never> {
        react(
            .onRejected, on: .inline, nil, Recovering<Success, Failure, Never>(body: { _ in value })
        )
    }
}

extension Promise where Failure == any Error {
    /// Recovers from errors of one type; others pass on to the next one.
    public func recover<Caught: Error>(
        from _: Caught.Type, on executor: PromiseExecutor? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// The same with a promise that `body` makes, which is waited for.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    public func recover<Caught: Error>(
        from _: Caught.Type, on executor: PromiseExecutor? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Promise
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// Recovers from one error; others pass on to the next one.
    public func recover<Caught: Error & Equatable>(
        from wanted: Caught, on executor: PromiseExecutor? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws in
            guard let caught = error as? Caught, caught == wanted else { throw error }
            return try body(caught)
        }
    }
}

private struct Recovering<Value: Sendable, Failure: Error, NewFailure: Error>: Reactor {
    let body: @Sendable (Failure) throws(NewFailure) -> Value

    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in
            outcome { () throws(NewFailure) in try body(failure) }
        }
    }
}

private struct RecoveringWithPromise<Value: Sendable, Failure: Error>: Reactor {
    let body: @Sendable (Failure) throws(Failure) -> Promise<Value, Failure>

    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in
            outcomeOfPromise { () throws(Failure) in try body(failure) }
        }
    }
}
