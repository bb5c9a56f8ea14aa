// Going on after a failure: recover.

public import CVow

extension Promise {
    /// The promise of the value, or of what `body` makes of the failure. `body` may throw.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Success
    ) -> Promise {
        react(.onRejected, on: executor, token, Recovering(body: body))
    }

    /// The same with a promise that `body` makes, which is waited for.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) throws(Failure) -> Promise
    ) -> Promise {
        react(.onRejected, on: executor, token, RecoveringWithPromise(body: body))
    }

    /// The same where a promise that cannot fail is asked for.
    @_disfavoredOverload  // Else what follows it could not throw.
    @inlinable
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Success
    ) -> Promise<Success, Never> {
        react(.onRejected, on: executor, token, Recovering(body: body))
    }

    /// The same with a promise whose failure is of another type, the only one there is then.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Promise<Success, NewFailure>
    ) -> Promise<Success, NewFailure> {
        react(.onRejected, on: executor, token, RecoveringWithPromise(body: body))
    }

    /// The same of a `body` that throws, too.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (),
        _ body: @escaping @Sendable (Failure) throws -> Promise<Success, Other>
    ) -> Promise<Success, any Error> {
        react(.onRejected, on: executor, token, RecoveringWithPromise(body: body))
    }

    /// The value, or another one instead of a failure.
    @inlinable
    public consuming func recover(with value: Success) -> Promise<Success, Never> {
        react(
            .onRejected, on: .inline, nil, Recovering<Success, Failure, Never>(body: { _ in value })
        )
    }
}

extension Promise where Failure == any Error {
    /// Recovers from errors of one type; others pass on to the next one.
    @inlinable
    public consuming func recover<Caught: Error>(
        from _: Caught.Type, on executor: PromiseExecutor?,
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
    @inlinable
    public consuming func recover<Caught: Error>(
        from _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Promise
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// The same with a promise whose failure is of another type.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<Caught: Error, Other: Error>(
        from _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil, joining _: Void = (),
        _ body: @escaping @Sendable (Caught) throws -> Promise<Success, Other>
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise in
            guard let caught = error as? Caught else { throw error }
            return try body(caught).eraseFailure()
        }
    }

    /// Recovers from one error; others pass on to the next one.
    @inlinable
    public consuming func recover<Caught: Error & Equatable>(
        from wanted: Caught, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws in
            guard let caught = error as? Caught, caught == wanted else { throw error }
            return try body(caught)
        }
    }
}

@usableFromInline
struct Recovering<Value: Sendable, Failure: Error, NewFailure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Failure) throws(NewFailure) -> Value

    @inlinable
    init(body: @escaping @Sendable (Failure) throws(NewFailure) -> Value) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in
            outcome { () throws(NewFailure) in try body(failure) }
        }
    }
}

@usableFromInline
struct RecoveringWithPromise<
    Value: Sendable, Failure: Error, Thrown: Error, Inner: Error
>: Reactor {
    @usableFromInline let body: @Sendable (Failure) throws(Thrown) -> Promise<Value, Inner>

    @inlinable
    init(body: @escaping @Sendable (Failure) throws(Thrown) -> Promise<Value, Inner>) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in
            outcomeOfPromise { () throws(Thrown) in try body(failure) }
        }
    }
}
