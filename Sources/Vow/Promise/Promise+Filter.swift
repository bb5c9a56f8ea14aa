// Going on only with some values: filter, validate, compactMap; and with none: asVoid.

extension Promise where Failure == any Error {
    /// The value, if it fits; else the failure ``PromiseError/noSuchElement``.
    @inlinable
    public consuming func filter(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ isFitting: @escaping @Sendable (Success) throws -> Bool
    ) -> Promise {
        validate(on: executor, cancelledBy: token, orThrow: PromiseError.noSuchElement, isFitting)
    }

    /// The value, if it is valid; else this failure.
    @inlinable
    public consuming func validate(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        orThrow failure: any Error = PromiseError.noSuchElement,
        _ isValid: @escaping @Sendable (Success) throws -> Bool
    ) -> Promise {
        map(on: executor, cancelledBy: token) { value in
            if try isValid(value) { return value }
            throw failure
        }
    }

    /// The promise of what `transform` makes of the value; `nil` is the failure ``PromiseError/noSuchElement``.
    @inlinable
    public consuming func compactMap<NewSuccess>(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success) throws -> NewSuccess?
    ) -> Promise<NewSuccess, any Error> {
        map(on: executor, cancelledBy: token) { value in
            guard let new = try transform(value) else { throw PromiseError.noSuchElement }
            return new
        }
    }
}

extension Promise {
    /// The same promise without its value.
    @inlinable
    public consuming func asVoid() -> Promise<Void, Failure> {
        retyped()
    }
}
