// Handlers of some errors only: by type, by policy; and of some values only.

extension Promise where Failure == any Error {
    /// Goes on after errors of one type with a value; others pass by.
    public consuming func recover<Caught: Error>(
        from _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Success in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    public consuming func recover<Caught: Error>(
        from type: Caught.Type, cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Caught) throws -> Success
    ) -> Promise {
        let here = Trying.Here(body)
        return recover(from: type, on: here.executor, cancelledBy: token, here.plain.body)
    }

    /// Goes on after errors of one type by following a promise; others pass by.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    public consuming func recover<Caught: Error, Other: Error>(
        from _: Caught.Type, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Promise<Success, Other>
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise<Success, Other> in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload
    public consuming func recover<Caught: Error, Other: Error>(
        from type: Caught.Type, cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (Caught) throws -> Promise<Success, Other>
    ) -> Promise {
        let here = TryingPromise.Here(body)
        return recover(from: type, on: here.executor, cancelledBy: token, here.plain.body)
    }

    /// Goes on after one error with a value; others pass by.
    public consuming func recover<Caught: Error & Equatable>(
        from wanted: Caught, on executor: PromiseExecutor?,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Caught) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Success in
            guard let caught = error as? Caught, caught == wanted else { throw error }
            return try body(caught)
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    public consuming func recover<Caught: Error & Equatable>(
        from wanted: Caught, cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (Caught) throws -> Success
    ) -> Promise {
        let here = Trying.Here(body)
        return recover(from: wanted, on: here.executor, cancelledBy: token, here.plain.body)
    }

    /// Goes on with a value after the errors that `policy` covers; other errors pass by.
    ///
    /// With ``CatchPolicy/allErrorsExceptCancellation``, a cancelled promise stays cancelled.
    public consuming func recover(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        policy: CatchPolicy, _ body: @escaping @Sendable (any Error) throws -> Success
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Success in
            if !policy.covers(error) { throw error }
            return try body(error)
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil, policy: CatchPolicy,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (any Error) throws -> Success
    ) -> Promise {
        let here = TryingOfError.Here(body)
        return recover(on: here.executor, cancelledBy: token, policy: policy, here.plain.body)
    }

    /// Goes on after the errors that `policy` covers by following a promise; others pass by.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    public consuming func recover<Other: Error>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        policy: CatchPolicy,
        _ body: @escaping @Sendable (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        recover(on: executor, cancelledBy: token) { error throws -> Promise<Success, Other> in
            if !policy.covers(error) { throw error }
            return try body(error)
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @_disfavoredOverload
    public consuming func recover<Other: Error>(
        cancelledBy token: CancellationToken? = nil, policy: CatchPolicy,
        @_inheritActorContext _ body:
            @escaping @Sendable @isolated(any) (any Error) throws -> Promise<Success, Other>
    ) -> Promise {
        let here = TryingOfErrorPromise.Here(body)
        return recover(on: here.executor, cancelledBy: token, policy: policy, here.plain.body)
    }

    /// Ends a chain; the closure is called for a cancellation only if `policy` says so.
    @discardableResult
    public func `catch`(
        on executor: PromiseExecutor?, policy: CatchPolicy,
        _ body: @escaping @Sendable (any Error) -> Void
    ) -> Promise<Void, Never> {
        `catch`(on: executor) { error in
            if policy.covers(error) { body(error) }
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    @discardableResult
    public func `catch`(
        policy: CatchPolicy,
        @_inheritActorContext _ body: @escaping @Sendable @isolated(any) (any Error) -> Void
    ) -> Promise<Void, Never> {
        let here = SureOfError.Here(body)
        return `catch`(on: here.executor, policy: policy, here.plain.body)
    }
}

extension Promise where Failure == any Error {
    /// The value, if it fits; else this failure.
    public consuming func filter(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        orThrow failure: any Error = PromiseError.noSuchElement,
        _ isFitting: @escaping @Sendable (Success) throws -> Bool
    ) -> Promise {
        map(on: executor, cancelledBy: token) { value in
            if try isFitting(value) { return value }
            throw failure
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    public consuming func filter(
        cancelledBy token: CancellationToken? = nil,
        orThrow failure: any Error = PromiseError.noSuchElement,
        @_inheritActorContext _ isFitting:
            @escaping @Sendable @isolated(any) (Success) throws -> Bool
    ) -> Promise {
        let here = TryingTest.Here(isFitting)
        return filter(on: here.executor, cancelledBy: token, orThrow: failure, here.plain.body)
    }

    /// The promise of the closure's result for the value; `nil` is the failure ``PromiseError/noSuchElement``.
    public consuming func compactMap<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws -> NewSuccess?
    ) -> Promise<NewSuccess, any Error> {
        map(on: executor, cancelledBy: token) { value in
            guard let new = try transform(value) else { throw PromiseError.noSuchElement }
            return new
        }
    }

    /// The same with a closure that runs on the actor whose code wrote it.
    public consuming func compactMap<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ transform:
            @escaping @Sendable @isolated(any) (Success) throws -> NewSuccess?
    ) -> Promise<NewSuccess, any Error> {
        let here = Trying.Here(transform)
        return compactMap(on: here.executor, cancelledBy: token, here.plain.body)
    }
}
