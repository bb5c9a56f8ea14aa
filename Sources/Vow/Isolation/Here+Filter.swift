// Handlers that run where they were written: filter, validate, compactMap.

import CVow

extension Promise where Failure == any Error {
    /// `filter` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func filter(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) throws -> Bool
    ) -> Promise {
        let place = TryingTest(written: written)
        let isFitting = place.plain.body
        return validate(
            on: place.executor, cancelledBy: token, orThrow: PromiseError.noSuchElement, isFitting)
    }

    /// `validate` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func validate(
        cancelledBy token: CancellationToken? = nil,
        orThrow failure: any Error = PromiseError.noSuchElement,
        @_inheritActorContext _ written: @escaping @Sendable @isolated(any) (Success) throws -> Bool
    ) -> Promise {
        let place = TryingTest(written: written)
        let isValid = place.plain.body
        return map(on: place.executor, cancelledBy: token) { value in
            if try isValid(value) { return value }
            throw failure
        }
    }

    /// `compactMap` with a closure that runs where it was written: on its actor, or else where a handler attached here runs.
    @inlinable
    public consuming func compactMap<NewSuccess>(
        cancelledBy token: CancellationToken? = nil,
        @_inheritActorContext _ written:
            @escaping @Sendable @isolated(any) (Success) throws -> NewSuccess?
    ) -> Promise<NewSuccess, any Error> {
        let place = Trying(written: written)
        let transform = place.plain.body
        return map(on: place.executor, cancelledBy: token) { value in
            guard let new = try transform(value) else { throw PromiseError.noSuchElement }
            return new
        }
    }
}
