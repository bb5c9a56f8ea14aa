// Asynchronous closures as handlers: each in a task of its own, isolated to where the closure was written.
//
// The task is cancelled with the link, has the priority and the task locals of who attached it, and the link's promise
// settles when it has ended.

import CVow

extension Promise {
    /// `map` with an asynchronous closure, in a task that is isolated to where it was written and is cancelled with the link.
    /// The promise settles when the task has ended.
    @_disfavoredOverload
    public func map<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ transform:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, isolatedTo: transform.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcome { () async throws(Failure) in try await transform(value) }
            }
        }
    }

    /// `then` with an asynchronous closure, as `map`.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess>(
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

    /// The same with a promise that `body` makes, which is waited for.
    @_disfavoredOverload
    @discardableResult
    public func then<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Success) async throws(Failure)
            -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        react(.onFulfilled, isolatedTo: body.isolation, token) { input in
            await reading(input) { (value: Success) in
                await outcomeOfPromise { () async throws(Failure) in try await body(value) }
            }
        }
    }

    /// `done` with an asynchronous closure, as `map`.
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

    /// `get` with an asynchronous closure, as `map`.
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

    /// `recover` with an asynchronous closure, as `map`.
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
            do throws(Failure) { return encode(try await body(failure)) } catch {
                return encodeError(error)
            }
        }
    }

    /// `catch` with an asynchronous closure, as `map`: the chain is through when its task has ended.
    @_disfavoredOverload
    @discardableResult
    public func `catch`(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Failure) async -> Void
    ) -> Promise<Void, Never> {
        react(.onBoth, isolatedTo: body.isolation, token) { input in
            if input.kind != VOW_ERROR { return vow_none() }
            if let failure = decodeFailure(input, as: Failure.self) {
                await body(failure)
            } else {
                reportUnspeakable(input)
            }
            return vow_none()
        }
    }

    /// `finally` with an asynchronous closure, as `map`. Its task is never cancelled: clean-up runs to its end.
    @_disfavoredOverload
    @discardableResult
    public func finally(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) () async throws(Failure) -> Void
    ) -> Promise {
        react(.finally, isolatedTo: body.isolation, token, isCleanUp: true) { _ in
            do throws(Failure) { try await body() } catch { return encodeError(error) }
            return vow_none()
        }
    }
}
