// Going on with the value: then, map, flatMap.

import CVow

extension Promise {
    /// The promise of what `transform` makes of the value. A failure passes through, and `transform` is not called.
    public func map<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, Mapping(transform: transform))
    }

    /// The same with a promise that `transform` makes, which is waited for.
    public func flatMap<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// Goes on with the value; the closure returns a value or a promise. As ``map(on:cancelledBy:_:)``.
    @discardableResult
    public func then<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        map(on: executor, cancelledBy: token, body)
    }

    /// Goes on with the value; the closure returns a value or a promise. As ``flatMap(on:cancelledBy:_:)``.
    @discardableResult
    public func then<NewSuccess>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        flatMap(on: executor, cancelledBy: token, body)
    }

    /// Goes on with the value or with the failure: one of the two closures runs. What `body` throws does not come to
    /// `rejected`.
    @discardableResult
    public func then<NewSuccess>(
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
}

private struct Mapping<Value: Sendable, Failure: Error, NewValue>: Reactor {
    let transform: @Sendable (Value) throws(Failure) -> NewValue

    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            outcome { () throws(Failure) in try transform(value) }
        }
    }
}

private struct FlatMapping<Value: Sendable, Failure: Error, NewValue: Sendable>: Reactor {
    let transform: @Sendable (Value) throws(Failure) -> Promise<NewValue, Failure>

    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            outcomeOfPromise { () throws(Failure) in try transform(value) }
        }
    }
}
