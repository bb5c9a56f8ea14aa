// Handlers of an actor's, which is given to them.

import CVow

extension Promise {
    /// `map` with a closure that is isolated to the actor, which it is given.
    public func map<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let transform: @Sendable (Success) throws(Failure) -> NewSuccess = {
            input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onFulfilled, on: place.executor, token, Mapping(transform: transform))
    }

    /// `flatMap` with a closure that is isolated to the actor, which it is given.
    public func flatMap<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let transform: @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure> = {
            input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onFulfilled, on: place.executor, token, FlatMapping(transform: transform))
    }

    /// `then` with a closure that is isolated to the actor, which it is given.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    public func then<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let body: @Sendable (Success) throws(Failure) -> NewSuccess = { input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return map(on: place.executor, cancelledBy: token, body)
    }

    /// `then` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func then<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> Promise<
                NewSuccess, Failure
            >
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let body: @Sendable (Success) throws(Failure) -> Promise<NewSuccess, Failure> = {
            input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return flatMap(on: place.executor, cancelledBy: token, body)
    }

    /// `catch` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func `catch`<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Failure) -> Void
    ) -> Promise<Void, Never> {
        let place = ActorPlace(actor)
        let body: @Sendable (Failure) -> Void = { input in
            place.run { actor in written(actor, input) }
        }
        return react(.onBoth, on: place.executor, token, Ending(body: body))
    }

    /// `done` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func done<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        let place = ActorPlace(actor)
        let body: @Sendable (Success) throws(Failure) -> Void = { input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onFulfilled, on: place.executor, token, Doing(body: body))
    }

    /// `recover` with a closure that is isolated to the actor, which it is given.
    public func recover<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Failure) throws(Failure) -> Success
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Failure) throws(Failure) -> Success = { input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onRejected, on: place.executor, token, Recovering(body: body))
    }

    /// `recover` with a closure that is isolated to the actor, which it is given.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    public func recover<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Failure) throws(Failure) -> Promise
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Failure) throws(Failure) -> Promise = { input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onRejected, on: place.executor, token, RecoveringWithPromise(body: body))
    }

    /// `finally` with a closure that is isolated to the actor, which it is given.
    @_disfavoredOverload  // Of closures that make promises.
    @discardableResult
    public func finally<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated) throws(Failure) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable () throws(Failure) -> Void = { () throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor) }
        }
        return react(.finally, on: place.executor, token, Finally(body: body))
    }

    /// `finally` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func finally<Ignored, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @Sendable (isolated Isolated) throws(Failure) -> Promise<Ignored, Failure>
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable () throws(Failure) -> Promise<Ignored, Failure> = {
            () throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor) }
        }
        return react(.finally, on: place.executor, token, FinallyWithPromise(body: body))
    }

    /// `get` with a closure that is isolated to the actor, which it is given.
    public func get<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Success) throws(Failure) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Success) throws(Failure) -> Void = { input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onFulfilled, on: place.executor, token, Getting(body: body))
    }

    /// `tap` with a closure that is isolated to the actor, which it is given.
    public func tap<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Result<Success, Failure>) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Result<Success, Failure>) -> Void = { input in
            place.run { actor in written(actor, input) }
        }
        return react(.onBoth, on: place.executor, token, Tapping(body: body))
    }

    /// `onComplete` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func onComplete<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Result<Success, Failure>) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Result<Success, Failure>) -> Void = { input in
            place.run { actor in written(actor, input) }
        }
        completed(token).observe(on: place.executor, nil, Observing(body: body))
        return self
    }

    /// `onSuccess` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func onSuccess<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Success) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Success) -> Void = { input in
            place.run { actor in written(actor, input) }
        }
        return observe(.onBothForValue, on: place.executor, token, ObservingValue(body: body))
    }

    /// `onFailure` with a closure that is isolated to the actor, which it is given.
    @discardableResult
    public func onFailure<Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written: @escaping @Sendable (isolated Isolated, Failure) -> Void
    ) -> Promise {
        let place = ActorPlace(actor)
        let body: @Sendable (Failure) -> Void = { input in
            place.run { actor in written(actor, input) }
        }
        completed(token).observe(
            on: place.executor, nil, Catching<Success, Failure>(body: body))
        return self
    }

    /// `transform` with a closure that is isolated to the actor, which it is given.
    @_disfavoredOverload  // Of closures that make promises or results.
    public func transform<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        joining _: Void = (), failing _: Void = (),
        _ written:
            @escaping @Sendable (isolated Isolated, Result<Success, Failure>) throws(Failure) ->
            NewSuccess
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let body: @Sendable (Result<Success, Failure>) throws(Failure) -> NewSuccess = {
            input throws(Failure) in
            try place.run { actor throws(Failure) in try written(actor, input) }
        }
        return react(.onBoth, on: place.executor, token, ResultMapping(transform: body))
    }

    /// `transform` with a closure that is isolated to the actor, which it is given.
    public func transform<NewSuccess, Isolated: Actor>(
        isolatedTo actor: Isolated, cancelledBy token: CancellationToken? = nil,
        _ written:
            @escaping @Sendable (isolated Isolated, Result<Success, Failure>) throws(Failure)
            -> Promise<NewSuccess, Failure>
    ) -> Promise<NewSuccess, Failure> {
        let place = ActorPlace(actor)
        let body:
            @Sendable (Result<Success, Failure>) throws(Failure) -> Promise<NewSuccess, Failure> = {
                input throws(Failure) in
                try place.run { actor throws(Failure) in try written(actor, input) }
            }
        return react(.onBoth, on: place.executor, token, ResultFlatMapping(transform: body))
    }
}
