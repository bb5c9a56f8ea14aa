// `on: .main`, with closures of the main actor.
//
// Code of the main actor needs none of this: a handler without `on:` runs on the actor whose code wrote it.

import Vow

/// Where handlers of the main actor run.
public struct MainActorExecutor: Sendable {
    fileprivate let executor: PromiseExecutor

    /// The main queue, which the program must run.
    public static let main = MainActorExecutor(executor: .main)

    /// On the executor: calls `body` as the main actor.
    fileprivate func run<Output: Sendable>(_ body: @MainActor () throws -> Output) throws -> Output
    {
        try MainActor.assumeIsolated { Result { try body() } }.get()
    }
}

extension Vow.Promise where Failure == any Error {
    public func map<NewSuccess: Sendable>(
        on place: MainActorExecutor,
        _ body: @escaping @MainActor @Sendable (Success) throws -> NewSuccess
    ) -> Promise<NewSuccess> {
        map(on: place.executor) { value in try place.run { try body(value) } }
    }

    @discardableResult
    public func then<NewSuccess, Other: Error>(
        on place: MainActorExecutor,
        _ body: @escaping @MainActor @Sendable (Success) throws -> Vow.Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess> {
        then(on: place.executor) { value in try place.run { try body(value) } }
    }

    @discardableResult
    public func done(
        on place: MainActorExecutor,
        _ body: @escaping @MainActor @Sendable (Success) throws -> Void
    ) -> Promise<Void> {
        map(on: place, body)
    }

    public func get(
        on place: MainActorExecutor,
        _ body: @escaping @MainActor @Sendable (Success) throws -> Void
    ) -> Promise<Success> {
        get(on: place.executor) { value in try place.run { try body(value) } }
    }

    @discardableResult
    public func ensure(
        on place: MainActorExecutor, _ body: @escaping @MainActor @Sendable () -> Void
    ) -> Promise<Success> {
        finally(on: place.executor) { MainActor.assumeIsolated { body() } }
    }

    @discardableResult
    public func `catch`(
        on place: MainActorExecutor, _ body: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Vow.Promise<Void, Never> {
        `catch`(on: place.executor) { error in MainActor.assumeIsolated { body(error) } }
    }
}
