// Handlers of the main actor's, on the main queue or the main actor.

import CVow

extension Promise {
    /// `map` with a closure of the main actor's.
    public func map<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let transform: @Sendable (Success) throws(Failure) -> NewSuccess = {
            input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onFulfilled, on: place.executor, token, Mapping(transform: transform))
    }

    /// `flatMap` with a closure of the main actor's.
    public func flatMap<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @MainActor @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let transform: @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure> = {
            input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `then` with a closure of the main actor's.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    public func then<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let body: @Sendable (Success) throws(Failure) -> NewSuccess = { input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return map(on: place.executor, cancelledBy: token, body)
    }

    /// `then` with a closure of the main actor's.
    @discardableResult
    public func then<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @MainActor @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let body: @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure> = {
            input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return flatMap(on: place.executor, cancelledBy: token, body)
    }

    /// `catch` with a closure of the main actor's.
    @discardableResult
    public func `catch`(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Failure) -> Void
    ) -> Promise<Void, Never> {
        let body: @Sendable (Failure) -> Void = { input in
            place.run { () in written(input) }
        }
        return react(.onBoth, on: place.executor, token, Ending(body: body))
    }

    /// `done` with a closure of the main actor's.
    @discardableResult
    public func done(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        let body: @Sendable (Success) throws(Failure) -> Void = { input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onFulfilled, on: place.executor, token, Doing(body: body))
    }

    /// `recover` with a closure of the main actor's.
    public func recover(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Failure) throws(Failure) -> Success
    ) -> Promise {
        let body: @Sendable (Failure) throws(Failure) -> Success = { input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onRejected, on: place.executor, token, Recovering(body: body))
    }

    /// `recover` with a closure of the main actor's.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    public func recover(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Failure) throws(Failure) -> Promise
    ) -> Promise {
        let body: @Sendable (Failure) throws(Failure) -> Promise = { input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onRejected, on: place.executor, token, RecoveringWithPromise(body: body))
    }

    /// `finally` with a closure of the main actor's.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    public func finally(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable () throws(Failure) -> Void
    ) -> Promise {
        let body: @Sendable () throws(Failure) -> Void = { () throws(Failure) in
            try place.run { () throws(Failure) in try written() }
        }
        return react(.finally, on: place.executor, token, Finally(body: body))
    }

    /// `finally` with a closure of the main actor's.
    @discardableResult
    public func finally<Ignored>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable () throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        let body: @Sendable () throws(Failure) -> Promise<Ignored, Failure> = {
            () throws(Failure) in
            try place.run { () throws(Failure) in try written() }
        }
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }

    /// `get` with a closure of the main actor's.
    public func get(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Success) throws(Failure) -> Void
    ) -> Promise {
        let body: @Sendable (Success) throws(Failure) -> Void = { input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onFulfilled, on: place.executor, token, Getting(body: body))
    }

    /// `tap` with a closure of the main actor's.
    public func tap(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        let body: @Sendable (Result<Success, Failure>) -> Void = { input in
            place.run { () in written(input) }
        }
        return react(.onBoth, on: place.executor, token, Tapping(body: body))
    }

    /// `onComplete` with a closure of the main actor's.
    @discardableResult
    public func onComplete(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Result<Success, Failure>) -> Void
    ) -> Promise {
        let body: @Sendable (Result<Success, Failure>) -> Void = { input in
            place.run { () in written(input) }
        }
        completed(token).observe(on: place.executor, nil, Observing(body: body))
        return self
    }

    /// `onSuccess` with a closure of the main actor's.
    @discardableResult
    public func onSuccess(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Success) -> Void
    ) -> Promise {
        let body: @Sendable (Success) -> Void = { input in
            place.run { () in written(input) }
        }
        return observe(.onBothForValue, on: place.executor, token, ObservingValue(body: body))
    }

    /// `onFailure` with a closure of the main actor's.
    @discardableResult
    public func onFailure(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @MainActor @Sendable (Failure) -> Void
    ) -> Promise {
        let body: @Sendable (Failure) -> Void = { input in
            place.run { () in written(input) }
        }
        completed(token).observe(
            on: place.executor, nil, Catching<Success, Failure>(body: body))
        return self
    }

    /// `transform` with a closure of the main actor's.
    @_disfavoredOverload  // Of closures that make promises or results.
    public func transform<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (),
        _ written:
            @escaping @MainActor @Sendable (Result<Success, Failure>) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let body: @Sendable (Result<Success, Failure>) throws(Failure) -> NewSuccess = {
            input throws(Failure) in
            try place.run { () throws(Failure) in try written(input) }
        }
        return react(.onBoth, on: place.executor, token, ResultMapping(transform: body))
    }

    /// `transform` with a closure of the main actor's.
    public func transform<NewSuccess>(
        on place: MainActorExecutor, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @MainActor @Sendable (Result<Success, Failure>) throws(Failure)
            -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let body:
            @Sendable (Result<Success, Failure>) throws(Failure) -> Promise<NewSuccess, Failure> = {
                input throws(Failure) in
                try place.run { () throws(Failure) in try written(input) }
            }
        return react(.onBoth, on: place.executor, token, ResultFlatMapping(transform: body))
    }
}
