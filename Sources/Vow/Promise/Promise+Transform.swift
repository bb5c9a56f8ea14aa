// Going on with whichever it is: transform.

public import CVow

extension Promise {
    /// The promise of what `body` makes of the result, whether that is a value or a failure.
    @_disfavoredOverload  // Of closures that make promises or results.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (),
        _ body: @escaping @Sendable (Result<Success, Failure>) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onBoth, on: executor, token, ResultMapping(transform: body))
    }

    /// The same with a failure of another type, which `body` says that it throws.
    @_disfavoredOverload  // Of closures that do not say it.
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (), changing _: Void = (),
        _ body: @escaping @Sendable (Result<Success, Failure>) throws(NewFailure) -> NewSuccess
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onBoth, on: executor, token, ResultMapping(transform: body))
    }

    /// The same with a promise that `body` makes, which is waited for.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body:
            @escaping @Sendable (Result<Success, Failure>) throws(Failure)
            -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        react(.onBoth, on: executor, token, ResultFlatMapping(transform: body))
    }

    /// The same with a promise whose failure is of another type, the only one there is then.
    @_disfavoredOverload
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body:
            @escaping @Sendable (Result<Success, Failure>) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onBoth, on: executor, token, ResultFlatMapping(transform: body))
    }

    /// The same of a `body` that throws, too.
    @_disfavoredOverload
    @inlinable
    public consuming func transform<NewSuccess, Other>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (),
        _ body:
            @escaping @Sendable (Result<Success, Failure>) throws -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(.onBoth, on: executor, token, ResultFlatMapping(transform: body))
    }

    /// The same with another result.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body:
            @escaping @Sendable (Result<Success, Failure>) throws(Failure)
            -> Result<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        transform(on: executor, cancelledBy: token) { result throws(Failure) in
            try body(result).get()
        }
    }

    /// The same with another result, whose failure is of another type.
    @_disfavoredOverload  // Of closures that do not say so.
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Result<Success, Failure>) -> Result<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        transform(on: executor, cancelledBy: token) { result throws(NewFailure) in
            try body(result).get()
        }
    }

    /// Each side with a closure of its own.
    @inlinable
    public consuming func transform<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        success: @escaping @Sendable (Success) throws(Failure) -> NewSuccess,
        failure: @escaping @Sendable (Failure) -> Failure
    ) -> Promise<NewSuccess, Failure> {
        transform(on: executor, cancelledBy: token) { result throws(Failure) in
            switch result {
            case .success(let value): try success(value)
            case .failure(let error): throw failure(error)
            }
        }
    }

    /// The same with a failure of another type.
    @_disfavoredOverload  // Of closures that do not say so.
    @inlinable
    public consuming func transform<NewSuccess, NewFailure>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        success: @escaping @Sendable (Success) throws(NewFailure) -> NewSuccess,
        failure: @escaping @Sendable (Failure) -> NewFailure
    ) -> Promise<NewSuccess, NewFailure> {
        let changed: Promise<NewSuccess, NewFailure> = transform(on: executor, cancelledBy: token) {
            result throws(NewFailure) in
            switch result {
            case .success(let value): try success(value)
            case .failure(let error): throw failure(error)
            }
        }
        return changed
    }

    /// The same promise with another failure.
    @inlinable
    public consuming func mapError<NewFailure>(
        on executor: PromiseExecutor? = .inline,
        _ transform: @escaping @Sendable (Failure) -> NewFailure
    ) -> Promise<Success, NewFailure> {
        react(.onRejected, on: executor, nil, FailureMapping(transform: transform))
    }

    /// The same promise, whose failure may be any error; also one of the library's own.
    @inlinable
    public consuming func eraseFailure() -> Promise<Success, any Error> {
        retyped()
    }
}

extension Promise where Failure == Never {
    /// The same promise where one that may fail is asked for.
    @inlinable
    public func setFailureType<NewFailure>(to _: NewFailure.Type) -> Promise<Success, NewFailure> {
        retyped()
    }
}

@usableFromInline
struct ResultMapping<Value: Sendable, Failure: Error, NewValue, NewFailure: Error>: Reactor {
    @usableFromInline let transform:
        @Sendable (Result<Value, Failure>) throws(NewFailure) -> NewValue

    @inlinable
    init(transform: @escaping @Sendable (Result<Value, Failure>) throws(NewFailure) -> NewValue) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in
            outcome { () throws(NewFailure) in try transform(result) }
        }
    }
}

@usableFromInline
struct ResultFlatMapping<
    Value: Sendable, Failure: Error, NewValue: Sendable, Thrown: Error, Inner: Error
>: Reactor {
    @usableFromInline let transform:
        @Sendable (Result<Value, Failure>) throws(Thrown) -> Promise<NewValue, Inner>

    @inlinable
    init(
        transform:
            @escaping @Sendable (Result<Value, Failure>) throws(Thrown) -> Promise<NewValue, Inner>
    ) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in
            outcomeOfPromise { () throws(Thrown) in try transform(result) }
        }
    }
}

@usableFromInline
struct FailureMapping<Failure: Error, NewFailure: Error>: Reactor {
    @usableFromInline let transform: @Sendable (Failure) -> NewFailure

    @inlinable
    init(transform: @escaping @Sendable (Failure) -> NewFailure) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { encodeError(transform($0)) }
    }
}
