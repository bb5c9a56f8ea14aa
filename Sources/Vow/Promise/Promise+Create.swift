// Making promises.

public import CVow
import VowCore

extension Promise {
    /// A pending promise of any failure type. The caller keeps the resolver until it has settled the promise, where the type
    /// cannot say that the promise was lost.
    @inlinable
    package static func open() -> (promise: Promise, resolver: Resolver) {
        var resolver: OpaquePointer?
        let promise = vow_promise_create(&resolver)
        return (Promise(owned: promise), PromiseResolver(owned: resolver.unsafelyUnwrapped))
    }

    static func openCooperative() -> (promise: Promise, resolver: Resolver) {
        var resolver: OpaquePointer?
        let promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE)
        guard let resolver else { fatalError("a promise without a resolver") }
        return (Promise(owned: promise), PromiseResolver(owned: resolver))
    }

    @inlinable
    init(settling body: (Resolver) throws(Failure) -> Void) {
        let (promise, resolver) = Self.open()
        self = promise
        do { try body(resolver) } catch { resolver.reject(error) }
    }

    init(
        _ executor: PromiseExecutor,
        settling body: @escaping @Sendable (Resolver) throws(Failure) -> Void
    ) {
        let (promise, resolver) = Self.open()
        self = promise
        _ = Promise<Void, Never>.work(
            on: executor,
            Working<Void, Never>(body: {
                do throws(Failure) { try body(resolver) } catch { resolver.reject(error) }
            }))
    }
}

extension Promise where Failure == any Error {
    /// A pending promise and the right to decide about it.
    @inlinable
    public static func pending() -> (promise: Promise, resolver: Resolver) { open() }

    /// The same for work that cannot stop at once. Cancelling the promise only notifies its producer
    /// (``PromiseResolver/onCancel(_:)``); the promise stays pending until the producer settles it or releases the
    /// resolver, and is then rejected.
    public static func pendingCooperative() -> (promise: Promise, resolver: Resolver) {
        openCooperative()
    }

    /// Runs `body` here and now; it keeps the resolver for as long as the work takes. An error thrown by `body` rejects.
    ///
    /// ```swift
    /// let size = Promise<Int, any Error> { resolver in
    ///     legacy.measure { size, error in resolver.settle(size, error) }
    /// }
    /// ```
    @inlinable
    public init(_ body: (Resolver) throws -> Void) {
        self.init(settling: body)
    }

    /// The same on an executor.
    public init(
        on executor: PromiseExecutor, resolving body: @escaping @Sendable (Resolver) throws -> Void
    ) {
        self.init(executor, settling: body)
    }
}

extension Promise where Failure: PromiseFailure {
    /// A pending promise and the right to decide about it.
    @inlinable
    public static func pending() -> (promise: Promise, resolver: Resolver) { open() }

    /// The same for work that cannot stop at once, as with any error.
    public static func pendingCooperative() -> (promise: Promise, resolver: Resolver) {
        openCooperative()
    }

    /// Runs `body` here and now; it keeps the resolver for as long as the work takes. An error thrown by `body` rejects.
    @inlinable
    public init(_ body: (Resolver) throws(Failure) -> Void) {
        self.init(settling: body)
    }

    /// The same on an executor.
    public init(
        on executor: PromiseExecutor,
        resolving body: @escaping @Sendable (Resolver) throws(Failure) -> Void
    ) {
        self.init(executor, settling: body)
    }
}

extension Promise where Failure == Never {
    /// A pending promise and the right to decide about it.
    ///
    /// The resolver's progress is not the promise's: use ``setProgress(_:note:)`` of the promise.
    ///
    /// - Parameter value: fulfils the promise when the last resolver is released without a decision.
    public static func pending(
        orElse value: Success
    ) -> (promise: Promise, resolver: Resolver) {
        let (promise, resolver) = Promise<Success, any Error>.open()
        return (promise.recover(with: value), Resolver(same: resolver.handle))
    }
}

// Explanations of the compiler's, for failure types that the extensions above leave out.
extension Promise {
    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "it could not say that it was cancelled or lost: its failure is `any Error`, a PromiseFailure, or, with `orElse:`, Never"
    )
    public static func pending() -> (promise: Promise, resolver: Resolver) { open() }

    @_disfavoredOverload
    @available(
        *, unavailable,
        message:
            "it could not say that it was cancelled or lost: its failure is `any Error` or a PromiseFailure"
    )
    public init(_ body: (Resolver) throws(Failure) -> Void) { self.init(settling: body) }
}

extension Promise {
    /// A promise that is fulfilled already.
    @inlinable
    public static func value(_ value: Success) -> Promise {
        Promise(owned: vow_promise_with(encode(value)))
    }

    /// A promise that is rejected already.
    @inlinable
    public static func failure(_ failure: Failure) -> Promise {
        Promise(owned: vow_promise_with(encodeError(failure)))
    }

    /// A promise that is settled already.
    @inlinable
    public init(_ result: Result<Success, Failure>) {
        switch result {
        case .success(let value): self = .value(value)
        case .failure(let failure): self = .failure(failure)
        }
    }

    /// Runs `body` here and now; an error thrown by it rejects.
    @_disfavoredOverload  // A promise would become a promise of a promise.
    @inlinable
    public static func attempt(_ body: () throws(Failure) -> Success) -> Promise {
        do { return .value(try body()) } catch { return .failure(error) }
    }

    /// Runs `body` on an executor, and returns the promise of its result.
    @_disfavoredOverload  // A promise would become a promise of a promise.
    public init(
        on executor: PromiseExecutor, _ body: @escaping @Sendable () throws(Failure) -> Success
    ) {
        self = .work(on: executor, Working(body: body))
    }
}

extension Promise where Failure == any Error {
    /// A promise that is fulfilled already. Without a type in view, its failure is any error.
    @inlinable
    public static func value(_ value: Success) -> Promise {
        Promise(owned: vow_promise_with(encode(value)))
    }

    /// A promise that is rejected already. Without a type in view, its failure is any error.
    @inlinable
    public static func failure(_ failure: any Error) -> Promise {
        Promise(owned: vow_promise_with(encodeAnyError(failure)))
    }

    /// Runs `body`, which makes a promise, here and now; an error thrown by it rejects.
    @inlinable
    public static func attempt<Other: Error>(
        _ body: () throws -> Promise<Success, Other>
    ) -> Promise {
        do { return try body().widened() } catch { return .failure(error) }
    }

    /// Runs `body`, which makes a promise, on an executor, and follows that promise. An error thrown by `body` rejects.
    public init<Other: Error>(
        on executor: PromiseExecutor,
        _ body: @escaping @Sendable () throws -> Promise<Success, Other>
    ) {
        self = .work(on: executor, WorkingByJoining(body: body))
    }
}

extension Promise where Success == Void {
    /// A promise that is fulfilled already.
    @inlinable
    public static var value: Promise { .value(()) }
}

/// Begins a chain with the promise that `body` makes here and now.
@inlinable
public func firstly<Success, Failure>(
    _ body: () -> Promise<Success, Failure>
) -> Promise<Success, Failure> {
    body()
}

/// The same; an error thrown by `body` rejects.
@_disfavoredOverload
@inlinable
public func firstly<Success, Failure>(
    _ body: () throws -> Promise<Success, Failure>
) -> Promise<Success, any Error> {
    .attempt(body)
}

@usableFromInline
struct Working<Value: Sendable, Failure: Error>: Reactor {
    @usableFromInline let body: @Sendable () throws(Failure) -> Value

    @inlinable
    init(body: @escaping @Sendable () throws(Failure) -> Value) {
        self.body = body
    }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        outcome { () throws(Failure) in try body() }
    }
}

struct WorkingByJoining<Value: Sendable, Inner: Error>: Reactor {
    let body: @Sendable () throws -> Promise<Value, Inner>

    func react(to _: vow_value) -> vow_value {
        outcome(followedBy: (any Error).self) { () throws in try body() }
    }
}
