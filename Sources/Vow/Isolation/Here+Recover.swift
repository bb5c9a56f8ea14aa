// Handlers that run where they were written: recover.

import CVow

extension Promise {
    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Failure) throws(Failure) -> Success
    ) -> Promise {
        let place = Written(written: written)
        let body = place.plain.body
        return react(.onRejected, on: place.executor, token, Recovering(body: body))
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Failure) throws(Failure) -> Promise
    ) -> Promise {
        let place = WrittenPromise(written: written)
        let body = place.plain.body
        return react(.onRejected, on: place.executor, token, RecoveringWithPromise(body: body))
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Else what follows it could not throw.
    @inlinable
    public consuming func recover(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Failure) -> Success
    ) -> Promise<Success, Never> {
        let place = Sure(written: written)
        let body = place.plain.body
        return react(.onRejected, on: place.executor, token, Recovering(body: body))
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<NewFailure: Error>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Failure) -> Promise<Success, NewFailure>
    ) -> Promise<Success, NewFailure> {
        let place = SurePromise(written: written)
        let body = place.plain.body
        return react(.onRejected, on: place.executor, token, RecoveringWithPromise(body: body))
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<Other: Error>(
        cancelledBy token: CancellationToken? = nil,
        joining _: Void = (),
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Failure) throws -> Promise<Success, Other>
    ) -> Promise<Success, any Error> {
        let place = TryingPromise(written: written)
        let body = place.plain.body
        return react(.onRejected, on: place.executor, token, RecoveringWithPromise(body: body))
    }
}

extension Promise where Failure == any Error {
    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func recover<Caught: Error>(
        from _: Caught.Type,
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Caught) throws -> Success
    ) -> Promise {
        let place = Trying(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token) { error throws in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload  // Of closures that only throw: either would do.
    @inlinable
    public consuming func recover<Caught: Error>(
        from _: Caught.Type,
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Caught) throws -> Promise
    ) -> Promise {
        let place = TryingPromise(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token) { error throws -> Promise in
            guard let caught = error as? Caught else { throw error }
            return try body(caught)
        }
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @_disfavoredOverload
    @inlinable
    public consuming func recover<Caught: Error, Other: Error>(
        from _: Caught.Type,
        cancelledBy token: CancellationToken? = nil, joining _: Void = (),
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Caught) throws -> Promise<Success, Other>
    ) -> Promise {
        let place = TryingPromise(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token) { error throws -> Promise in
            guard let caught = error as? Caught else { throw error }
            return try body(caught).eraseFailure()
        }
    }

    /// `recover` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func recover<Caught: Error & Equatable>(
        from wanted: Caught,
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Caught) throws -> Success
    ) -> Promise {
        let place = Trying(written: written)
        let body = place.plain.body
        return recover(on: place.executor, cancelledBy: token) { error throws in
            guard let caught = error as? Caught, caught == wanted else { throw error }
            return try body(caught)
        }
    }
}
