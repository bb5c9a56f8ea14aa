// Making promises.

import CVow
import VowCore

extension Promise {
    /// A pending promise and the right to decide about it.
    public static func pending() -> (promise: Promise, resolver: Resolver<Success, Failure>) {
        let promise = makePending(in: PromiseHandle.house)
        return (Promise(made: promise), Resolver(owned: promise))
    }

    /// The same for work that cannot stop at once: cancelling the promise only tells its producer
    /// (``Resolver/onCancel(_:)``), and it stays pending until that settles it or lets go of it; then it is rejected.
    public static func pendingCooperative() -> (
        promise: Promise, resolver: Resolver<Success, Failure>
    ) {
        var resolver: OpaquePointer?
        let promise = vow_promise_create_with(&resolver, VOW_COOPERATIVE)
        guard let resolver else { fatalError("a promise without a resolver") }
        return (Promise(owned: promise), Resolver(owned: resolver))
    }

    /// Runs `body` here and now; it keeps the resolver for as long as the work takes. What it throws rejects.
    ///
    /// ```swift
    /// let size = Promise<Int, any Error> { resolver in
    ///     legacy.measure { size, error in resolver.settle(size, error) }
    /// }
    /// ```
    public init(_ body: (Resolver<Success, Failure>) throws(Failure) -> Void) {
        let (promise, resolver) = Self.pending()
        self = promise
        do { try body(resolver) } catch { resolver.reject(error) }
    }

    /// The same on an executor.
    public init(
        on executor: PromiseExecutor,
        resolving body: @escaping @Sendable (Resolver<Success, Failure>) throws(Failure) -> Void
    ) {
        let (promise, resolver) = Self.pending()
        self = promise
        _ = Promise<Void, Never>.work(
            on: executor,
            Working<Void, Never>(body: {
                do throws(Failure) { try body(resolver) } catch { resolver.reject(error) }
            }))
    }

    /// Runs `body` on an executor; the promise of what it returns.
    @_disfavoredOverload  // Of a promise: it would be a promise of a promise.
    public init(
        on executor: PromiseExecutor, _ body: @escaping @Sendable () throws(Failure) -> Success
    ) {
        self = .work(on: executor, Working(body: body))
    }

    /// The same with a promise that `body` makes, which is waited for.
    public init<Followed: PromiseConvertible>(
        on executor: PromiseExecutor,
        _ body: @escaping @Sendable () throws(Failure) -> Followed
    ) where Followed.Success == Success, Followed.Failure == Failure {
        self = .work(
            on: executor,
            WorkingWithPromise(body: { () throws(Failure) in try body().promise }))
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
    public static func value(_ value: Success) -> Promise {
        Promise(made: makePromise(of: encode(value), in: PromiseHandle.house))
    }

    /// A promise that is rejected already.
    public static func failure(_ failure: Failure) -> Promise {
        Promise(made: makePromise(of: encodeError(failure), in: PromiseHandle.house))
    }

    /// A promise that is settled already.
    public init(_ result: Result<Success, Failure>) {
        switch result {
        case .success(let value): self = .value(value)
        case .failure(let failure): self = .failure(failure)
        }
    }

    /// Runs `body` here and now; what it throws rejects.
    @_disfavoredOverload  // Of closures that make promises: nobody wants promises of promises.
    public static func attempt(_ body: () throws(Failure) -> Success) -> Promise {
        do { return .value(try body()) } catch { return .failure(error) }
    }

    /// The same with a promise that `body` makes.
    public static func attempt(_ body: () throws(Failure) -> Promise) -> Promise {
        do { return try body() } catch { return .failure(error) }
    }
}

extension Promise where Success == Void {
    /// A promise that is fulfilled already.
    public static var value: Promise { .value(()) }
}

/// Begins a chain: runs `body` here and now; what it throws rejects.
public func firstly<Success, Failure>(
    _ body: () throws(Failure) -> Promise<Success, Failure>
) -> Promise<Success, Failure> {
    .attempt(body)
}

/// The same with a value.
public func firstly<Success: Sendable, Failure>(
    _ body: () throws(Failure) -> Success
) -> Promise<Success, Failure> {
    .attempt(body)
}

private struct Working<Value: Sendable, Failure: Error>: Reactor {
    let body: @Sendable () throws(Failure) -> Value

    func react(to _: vow_value) -> vow_value {
        outcome { () throws(Failure) in try body() }
    }
}

private struct WorkingWithPromise<Value: Sendable, Failure: Error>: Reactor {
    let body: @Sendable () throws(Failure) -> Promise<Value, Failure>

    func react(to _: vow_value) -> vow_value {
        outcomeOfPromise { () throws(Failure) in try body() }
    }
}
