// Going on with the value: then, map, flatMap.

public import CVow

extension Promise {
    /// The promise of what `transform` makes of the value. A failure passes through, and `transform` is not called.
    @inlinable
    public consuming func map<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: consuming @escaping @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, Mapping(transform: transform))
    }

    /// The same of a `transform` that does not throw, where the failure is still to be found.
    @_disfavoredOverload
    @inlinable
    public consuming func map<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: consuming @escaping @Sendable (Success) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, SureMapping(transform: transform))
    }

    /// The same with a promise that `transform` makes, which is waited for.
    @inlinable
    public consuming func flatMap<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform:
            consuming @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// Goes on with the value; the closure returns a value or a promise. As `map`.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: consuming @escaping @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        map(on: executor, cancelledBy: token, body)
    }

    /// Goes on with the value; the closure returns a value or a promise. As `flatMap`.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body:
            consuming @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        flatMap(on: executor, cancelledBy: token, body)
    }

    /// Goes on with the value or with the failure: one of the two closures runs. What `body` throws does not come to
    /// `rejected`.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> NewSuccess,
        rejected: @escaping @Sendable (Failure) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        transform(on: executor, cancelledBy: token) { result throws(Failure) in
            switch result {
            case .success(let value): try body(value)
            case .failure(let failure): try rejected(failure)
            }
        }
    }

    /// The same with promises that the closures make, which are waited for.
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>,
        rejected: @escaping @Sendable (Failure) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        transform(on: executor, cancelledBy: token) {
            result throws(Failure) -> Promise<NewSuccess, Failure> in
            switch result {
            case .success(let value): try body(value)
            case .failure(let failure): try rejected(failure)
            }
        }
    }
}

@usableFromInline
struct Mapping<Value: Sendable, Failure: Error, NewValue>: Reactor {
    @usableFromInline let transform: @Sendable (Value) throws(Failure) -> NewValue

    @inlinable
    init(transform: consuming @escaping @Sendable (Value) throws(Failure) -> NewValue) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            outcome(like: input) { () throws(Failure) in try transform(value) }
        }
    }
}

/// Of a closure that does not throw: as one that does, it would be another one in a memory of its own.
@usableFromInline
struct SureMapping<Value: Sendable, NewValue>: Reactor {
    @usableFromInline let transform: @Sendable (Value) -> NewValue

    @inlinable
    init(transform: consuming @escaping @Sendable (Value) -> NewValue) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in encode(transform(value), like: input) }
    }
}

@usableFromInline
struct FlatMapping<Value: Sendable, Failure: Error, NewValue: Sendable, Inner: Error>: Reactor {
    @usableFromInline let transform: @Sendable (Value) throws(Failure) -> Promise<NewValue, Inner>

    @inlinable
    init(
        transform: consuming @escaping @Sendable (Value) throws(Failure) -> Promise<NewValue, Inner>
    ) {
        self.transform = transform
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            outcomeOfPromise { () throws(Failure) in try transform(value) }
        }
    }
}
