// Handlers with asynchronous closures.
//
// Each closure runs in a task of its own, which is isolated to the actor whose code wrote the closure, has the priority and
// the task locals of the code that attached the handler, and is cancelled with the link. The link settles when the task has
// ended.

import CVow

extension Promise where Failure == any Error {
    /// `map` with an asynchronous closure.
    @_disfavoredOverload
    public func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> NewSuccess
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome { () async throws in try await body(value) }
            }
        }
    }

    /// `then` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess, Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess, any Error> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome(followedBy: (any Error).self) { () async throws in
                    try await body(value)
                }
            }
        }
    }

    /// `done` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func done(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise<Void, any Error> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome { () async throws in try await body(value) }
            }
        }
    }

    /// `get` with an asynchronous closure.
    @_disfavoredOverload
    public func get(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws -> Void
    ) -> Promise {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                do { try await body(value) } catch { return encodeAnyError(error) }
                return vow_value_retain(input)
            }
        }
    }

    /// `recover` with an asynchronous closure.
    @_disfavoredOverload
    public func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Failure) async throws -> Success
    ) -> Promise {
        react(.onRejected, isolatedTo: body.isolation, token) { input in
            guard let failure = decodeFailure(input, as: Failure.self) else {
                return vow_value_retain(input)
            }
            return await outcome { () async throws in try await body(failure) }
        }
    }

    /// `finally` with an asynchronous closure. Its task is never cancelled: clean-up runs to its end.
    @_disfavoredOverload
    @discardableResult
    public func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () async throws -> Void
    ) -> Promise {
        react(.finally, isolatedTo: body.isolation, token, isCleanUp: true) { _ in
            await outcome { () async throws in try await body() }
        }
    }
}

extension Promise where Failure: PromiseFailure {
    /// `map` with an asynchronous closure.
    @_disfavoredOverload
    public func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome { () async throws(Failure) in try await body(value) }
            }
        }
    }

    /// `then` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome(followedBy: Failure.self) { () async throws(Failure) in
                    try await body(value)
                }
            }
        }
    }

    /// `done` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func done(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome { () async throws(Failure) in try await body(value) }
            }
        }
    }

    /// `get` with an asynchronous closure.
    @_disfavoredOverload
    public func get(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure) -> Void
    ) -> Promise {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                do throws(Failure) { try await body(value) } catch { return encodeError(error) }
                return vow_value_retain(input)
            }
        }
    }

    /// `recover` with an asynchronous closure.
    @_disfavoredOverload
    public func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Failure) async throws(Failure) -> Success
    ) -> Promise {
        react(.onRejected, isolatedTo: body.isolation, token) { input in
            guard let failure = decodeFailure(input, as: Failure.self) else {
                return vow_value_retain(input)
            }
            return await outcome { () async throws(Failure) in try await body(failure) }
        }
    }

    /// `finally` with an asynchronous closure. Its task is never cancelled: clean-up runs to its end.
    @_disfavoredOverload
    @discardableResult
    public func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () async throws(Failure) -> Void
    ) -> Promise {
        react(.finally, isolatedTo: body.isolation, token, isCleanUp: true) { _ in
            await outcome { () async throws(Failure) in try await body() }
        }
    }
}

extension Promise where Failure == Never {
    /// `map` with an asynchronous closure.
    @_disfavoredOverload
    public func map<NewSuccess>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async -> NewSuccess
    ) -> Promise<NewSuccess, Never> {
        react(.onFulfilled, isolatedTo: body.isolation, nil) { input in
            await reading(input) { (value: Success) in
                encode(await body(value))
            }
        }
    }

    /// `then` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess, NewFailure>(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async -> Promise<NewSuccess, NewFailure>
    ) -> Promise<NewSuccess, NewFailure> {
        react(.onFulfilled, isolatedTo: body.isolation, nil) { input in
            await reading(input) { (value: Success) in
                await body(value).followed(by: NewFailure.self)
            }
        }
    }

    /// `done` with an asynchronous closure.
    @_disfavoredOverload
    @discardableResult
    public func done(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async -> Void
    ) -> Promise<Void, Never> {
        react(.onFulfilled, isolatedTo: body.isolation, nil) { input in
            await reading(input) { (value: Success) in
                encode(await body(value))
            }
        }
    }

    /// `get` with an asynchronous closure.
    @_disfavoredOverload
    public func get(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async -> Void
    ) -> Promise {
        react(.onFulfilled, isolatedTo: body.isolation, nil) { input in
            await reading(input) { (value: Success) in
                await body(value)
                return vow_value_retain(input)
            }
        }
    }

    /// `finally` with an asynchronous closure. Its task is never cancelled: clean-up runs to its end.
    @_disfavoredOverload
    @discardableResult
    public func finally(
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () async -> Void
    ) -> Promise {
        react(.finally, isolatedTo: body.isolation, nil, isCleanUp: true) { _ in
            encode(await body())
        }
    }
}

extension Promise {
    /// `catch` with an asynchronous closure. The chain is through when its task has ended.
    @_disfavoredOverload
    @discardableResult
    public func `catch`(
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Failure) async -> Void
    ) -> Promise<Void, Never> {
        react(.onBoth, isolatedTo: body.isolation, nil) { input in
            if input.kind != VOW_ERROR { return vow_none() }
            if let failure = decodeFailure(input, as: Failure.self) {
                await body(failure)
            } else {
                reportUnspeakable(input)
            }
            return vow_none()
        }
    }
}
