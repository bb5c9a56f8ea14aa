// Making promises.

public import CVow
import VowCore

extension Promise {
    /// A pending promise and the right to decide about it.
    @inlinable
    public static func pending() -> (promise: Promise, resolver: Resolver) {
        var resolver: OpaquePointer?
        let promise = vow_promise_create(&resolver)
        return (Promise(owned: promise), PromiseResolver(owned: resolver.unsafelyUnwrapped))
    }

    /// The same for work that cannot stop at once: cancelling the promise only tells its producer
    /// (``PromiseResolver/onCancel(_:)``), and it stays pending until that settles it or lets go of it; then it is rejected.
    public static func pendingCooperative() -> (
        promise: Promise, resolver: Resolver
    ) {
        var resolver: OpaquePointer?
        let promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE)
        guard let resolver else { fatalError("a promise without a resolver") }
        return (Promise(owned: promise), PromiseResolver(owned: resolver))
    }

    /// Runs `body` here and now; it keeps the resolver for as long as the work takes. What it throws rejects.
    ///
    /// ```swift
    /// let size = Promise<Int, any Error> { resolver in
    ///     legacy.measure { size, error in resolver.settle(size, error) }
    /// }
    /// ```
    @inlinable
    public init(_ body: (Resolver) throws(Failure) -> Void) {
        let (promise, resolver) = Self.pending()
        self = promise
        do { try body(resolver) } catch { resolver.reject(error) }
    }

    /// The same on an executor.
    public init(
        on executor: PromiseExecutor,
        resolving body: @escaping @Sendable (Resolver) throws(Failure) -> Void
    ) {
        let (promise, resolver) = Self.pending()
        self = promise
        _ = Promise<Void, Never>.work(
            on: executor,
            Working<Void, Never>(body: {
                do throws(Failure) { try body(resolver) } catch { resolver.reject(error) }
            }))
    }

    /// Runs `body`, which makes a promise, on an executor; that is waited for.
    public init<Followed: PromiseConvertible>(
        on executor: PromiseExecutor, joining _: Void = (),
        _ body: @escaping @Sendable () throws(Failure) -> Followed
    ) where Followed.Success == Success, Followed.Failure == Failure {
        self = .work(
            on: executor,
            WorkingWithPromise(body: { () throws(Failure) in try body().promise }))
    }

    /// The same; of a body that does not throw, the failure is that of its promise.
    public init<Followed: PromiseConvertible>(
        on executor: PromiseExecutor, _ body: @escaping @Sendable () -> Followed
    ) where Followed.Success == Success, Followed.Failure == Failure {
        self = .work(
            on: executor, WorkingWithPromise(body: { () throws(Failure) in body().promise }))
    }

    /// The same where only its type says that it is a promise, as in `{ .value(5) }`.
    // Of closures without a `return` it is taken even less than the first one, because of what calls leave out.
    @_disfavoredOverload
    public init(
        on executor: PromiseExecutor, following _: Promise.Type = Promise.self,
        _ body: @escaping @Sendable () throws(Failure) -> Promise
    ) {
        self = .work(on: executor, WorkingWithPromise(body: body))
    }

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

    /// Runs `body`, which makes a promise, here and now; what it throws rejects.
    @inlinable
    public static func attempt<Followed: PromiseConvertible>(
        joining _: Void = (), _ body: () throws(Failure) -> Followed
    ) -> Promise where Followed.Success == Success, Followed.Failure == Failure {
        do { return try body().promise } catch { return .failure(error) }
    }

    /// The same; of a body that does not throw, the failure is that of its promise.
    @inlinable
    public static func attempt<Followed: PromiseConvertible>(
        _ body: () -> Followed
    ) -> Promise where Followed.Success == Success, Followed.Failure == Failure {
        body().promise
    }
}

extension Promise {
    /// Runs `body` here and now; what it throws rejects.
    @_disfavoredOverload  // Of closures that make promises: nobody wants promises of promises.
    @inlinable
    public static func attempt(_ body: () throws(Failure) -> Success) -> Promise {
        do { return .value(try body()) } catch { return .failure(error) }
    }

    /// Runs `body` on an executor; the promise of what it returns.
    @_disfavoredOverload  // Of a promise: it would be a promise of a promise.
    public init(
        on executor: PromiseExecutor, _ body: @escaping @Sendable () throws(Failure) -> Success
    ) {
        self = .work(on: executor, Working(body: body))
    }
}

extension Promise where Failure == any Error {
    /// The same with a promise whose failure is of another type than what `body` throws.
    @inlinable
    public static func attempt<Other: Error>(
        joining _: Void = (), failing _: Void = (), _ body: () throws -> Promise<Success, Other>
    ) -> Promise {
        do { return try body().eraseFailure() } catch { return .failure(error) }
    }

    /// The same with a promise whose failure is of another type than what `body` throws.
    public init<Other: Error>(
        on executor: PromiseExecutor, joining _: Void = (), failing _: Void = (),
        _ body: @escaping @Sendable () throws -> Promise<Success, Other>
    ) {
        self = .work(on: executor, WorkingWithPromise(body: { () throws in try body() }))
    }
}

extension Promise where Success == Void {
    /// A promise that is fulfilled already.
    @inlinable
    public static var value: Promise { .value(()) }
}

/// Begins a chain: runs `body` here and now; what it throws rejects.
@inlinable
public func firstly<Success, Failure>(
    _ body: () throws(Failure) -> Promise<Success, Failure>
) -> Promise<Success, Failure> {
    .attempt(body)
}

/// The same; of a body that does not throw, the failure is that of its promise.
@_disfavoredOverload
@inlinable
public func firstly<Success, Failure>(
    _ body: () -> Promise<Success, Failure>
) -> Promise<Success, Failure> {
    body()
}

/// The same with a promise whose failure is of another type than what `body` throws.
@_disfavoredOverload
@inlinable
public func firstly<Success, Failure>(
    joining _: Void = (), _ body: () throws -> Promise<Success, Failure>
) -> Promise<Success, any Error> {
    .attempt(joining: (), failing: (), body)
}

/// The same with a value.
// Taken less than the others, because of what calls leave out: nobody wants promises of promises.
@_disfavoredOverload
@inlinable
public func firstly<Success: Sendable, Failure>(
    joining _: Void = (), failing _: Void = (),
    _ body: () throws(Failure) -> Success
) -> Promise<Success, Failure> {
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

@usableFromInline
struct WorkingWithPromise<Value: Sendable, Failure: Error, Inner: Error>: Reactor {
    @usableFromInline let body: @Sendable () throws(Failure) -> Promise<Value, Inner>

    @inlinable
    init(body: @escaping @Sendable () throws(Failure) -> Promise<Value, Inner>) {
        self.body = body
    }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        outcomeOfPromise { () throws(Failure) in try body() }
    }
}
