// Going on with a promise of another failure type: what comes of it has a failure that stands for both.
//
// Disfavoured, all of them: where the types are the same, or are still to be found, the plain ones are meant.

extension Promise {
    /// Goes on with a promise that cannot fail, which is waited for.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// Goes on with a promise whose failure is of another type, which is waited for. The failure may be either.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// Goes on with a promise that cannot fail, which is waited for.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: body))
    }

    /// Goes on with a promise whose failure is of another type, which is waited for. The failure may be either.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: body))
    }
}

extension Promise where Failure == Never {
    /// Goes on with a promise that may fail, which is waited for. So may what comes of it, then.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// The same of a closure that throws, too.
    // Taken less than the one above, because of what calls leave out.
    @_disfavoredOverload
    @inlinable
    public consuming func flatMap<NewSuccess, NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        throwing _: NewFailure.Type = NewFailure.self,
        _ transform:
            @escaping @Sendable (Success) throws(NewFailure) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: transform))
    }

    /// Goes on with a promise that may fail, which is waited for. So may what comes of it, then.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: body))
    }

    /// The same of a closure that throws, too.
    // Taken less than the one above, because of what calls leave out.
    @_disfavoredOverload
    @discardableResult
    @inlinable
    public consuming func then<NewSuccess, NewFailure: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        throwing _: NewFailure.Type = NewFailure.self,
        _ body: @escaping @Sendable (Success) throws(NewFailure) -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, on: executor, token, FlatMapping(transform: body))
    }
}
