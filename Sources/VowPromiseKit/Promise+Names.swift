// PromiseKit's names for this library's promises, written from its documentation. A program that moves over needs this
// module as long as it has its old words.

@_exported import Vow

public typealias Promise<T: Sendable> = Vow.Promise<T, any Error>
public typealias Guarantee<T: Sendable> = Vow.Promise<T, Never>

extension Vow.Promise where Failure == any Error {
    public init(error: any Error) { self = .failure(error) }

    @discardableResult
    public func ensure(
        on executor: PromiseExecutor? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Vow.Promise<Success, any Error> {
        finally(on: executor, body)
    }

    public func ensureThen(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable () -> Vow.Promise<Void, Never>
    ) -> Vow.Promise<Success, any Error> {
        finally(on: executor, body)
    }
}

extension Vow.Promise {
    public var isFulfilled: Bool { state == .fulfilled }
    public var isRejected: Bool { state == .rejected }
    public var isResolved: Bool { !isPending }
}

extension PromiseResolver where Failure == any Error {
    public func resolve(_ value: Success?, _ error: (any Error)?) { _ = settle(value, error) }
    public func resolve(_ error: (any Error)?, _ value: Success?) { _ = settle(error, value) }
}

extension PromiseResolver where Success == Void, Failure == any Error {
    public func resolve(_ error: (any Error)?) { _ = settle(error) }
}

extension Vow.Promise where Failure == Never {
    /// A guarantee whose `seal` is dropped has nothing to be fulfilled with: reading it ends the process.
    public static func pending() -> (promise: Self, resolve: @Sendable (Success) -> Void) {
        let (promise, resolver) = open()
        return (promise, { _ = resolver.fulfill($0) })
    }

    /// As ``pending()``.
    public init(resolver body: (@escaping @Sendable (Success) -> Void) -> Void) {
        let (promise, resolve) = Self.pending()
        self = promise
        body(resolve)
    }
}

/// PromiseKit's names for its own errors that a program meets.
public enum PMKError: CancellableError {
    case cancelled

    public var isCancelled: Bool { true }
}
