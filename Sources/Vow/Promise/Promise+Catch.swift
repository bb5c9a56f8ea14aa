// Ending a chain: done, catch, cauterize.

public import CVow

extension Promise {
    /// Ends a chain: `body` gets the failure, whichever link it came from.
    ///
    /// - Returns: a promise that is fulfilled when the chain is through, with a value or with `body`; for `finally` behind
    ///   it, or to be awaited. To go on with a value instead, see `recover`; to look at the failure and pass it on,
    ///   ``onFailure(on:cancelledBy:_:)-(PromiseExecutor?,_,_)``.
    @discardableResult
    @inlinable
    public func `catch`(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Failure) -> Void
    ) -> Promise<Void, Never> {
        react(.onBoth, on: executor, token, Ending(body: body))
    }

    /// Goes on with the value to a link that has none.
    @discardableResult
    @inlinable
    public consuming func done(
        on executor: PromiseExecutor?, cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (Success) throws(Failure) -> Void
    ) -> Promise<Void, Failure> {
        react(.onFulfilled, on: executor, token, Doing(body: body))
    }

    /// Ends a chain whose failure is of no interest; it is printed to standard error, or given to what
    /// ``UnhandledRejections/setCauterized(_:)`` has set.
    @discardableResult
    public func cauterize(
        file: StaticString = #fileID, line: UInt = #line
    ) -> Promise<Void, Never> {
        `catch`(on: .inline) { UnhandledRejections.tellCauterized($0, file, line) }
    }
}

extension Promise where Failure == any Error {
    /// Ends a chain; of cancellation `body` is told only where `policy` says so.
    @discardableResult
    @inlinable
    public func `catch`(
        on executor: PromiseExecutor?, policy: CatchPolicy,
        _ body: @escaping @Sendable (any Error) -> Void
    ) -> Promise<Void, Never> {
        `catch`(on: executor) { error in
            if policy.covers(error) { body(error) }
        }
    }
}

@usableFromInline
struct Doing<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Value) throws(Failure) -> Void

    @inlinable
    init(body: @escaping @Sendable (Value) throws(Failure) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in outcome { () throws(Failure) in try body(value) } }
    }
}

/// The end of a chain, which comes in any case. An error that the failure type cannot stand for is nobody's then, and is
/// reported like one that nobody has looked at.
@usableFromInline
struct Ending<Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Failure) -> Void

    @inlinable
    init(body: @escaping @Sendable (Failure) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind != VOW_ERROR { return vow_none() }
        if let failure = decodeFailure(input, as: Failure.self) {
            body(failure)
        } else {
            reportUnspeakable(input)
        }
        return vow_none()
    }
}

/// - Parameter error: borrowed; no failure of the type that was to hear of it.
@usableFromInline
func reportUnspeakable(_ error: vow_value) {
    vow_promise_release(vow_promise_with(vow_value_retain(error)))
}

@usableFromInline
struct Catching<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable (Failure) -> Void

    @inlinable
    init(body: @escaping @Sendable (Failure) -> Void) {
        self.body = body
    }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind != VOW_ERROR { return vow_none() }
        return readingFailure(input) { failure in
            body(failure)
            return vow_none()
        }
    }
}
