// Asynchronous closures of then that make promises of another failure type, which are waited for.

import CVow

extension Promise {
    /// `then` with an asynchronous closure that makes a promise which cannot fail.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure)
            -> Promise<NewSuccess, Never>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcomeOfPromise { () async throws(Failure) in try await body(value) }
            }
        }
    }

    /// `then` with an asynchronous closure that makes a promise of another failure. The failure may be either.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure)
            -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcomeOfPromise { () async throws(Failure) in try await body(value) }
            }
        }
    }
}

extension Promise where Failure == Never {
    /// `then` with an asynchronous closure that makes a promise which may fail. So may what comes of it, then.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess, NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in await body(value).cValue }
        }
    }
}
