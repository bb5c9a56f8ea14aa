// Names for `map` and `then` that older versions of PromiseKit, FutureLib and EasyAsync have.

import Vow

extension Vow.Promise where Failure == any Error {
    /// `map`, by the name it had before PromiseKit 6.
    ///
    /// The compiler's time grows with each such link of one expression: a third takes it a second and a half. `map` does not
    /// have that.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    public func then<NewSuccess: Sendable>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> NewSuccess
    ) -> Promise<NewSuccess> {
        map(on: executor, body)
    }

    /// `then`, by another name.
    public func flatMap<NewSuccess, Other: Error>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> Vow.Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess> {
        then(on: executor, body)
    }

    /// Goes on with the value or with the failure: one of the two closures runs. An error thrown by `body` does not reach
    /// `rejected`.
    @_disfavoredOverload  // Closures that return promises have their own.
    @discardableResult
    public func then<NewSuccess: Sendable>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> NewSuccess,
        rejected: @escaping @Sendable (any Error) throws -> NewSuccess
    ) -> Promise<NewSuccess> {
        transform(on: executor) { (result) throws -> NewSuccess in
            switch result {
            case .success(let value): try body(value)
            case .failure(let failure): try rejected(failure)
            }
        }
    }

    /// The same with promises made by the closures, which the new promise follows.
    @discardableResult
    public func then<NewSuccess, Other: Error>(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (Success) throws -> Vow.Promise<NewSuccess, Other>,
        rejected: @escaping @Sendable (any Error) throws -> Vow.Promise<NewSuccess, Other>
    ) -> Promise<NewSuccess> {
        transform(on: executor) { (result) throws -> Vow.Promise<NewSuccess, Other> in
            switch result {
            case .success(let value): try body(value)
            case .failure(let failure): try rejected(failure)
            }
        }
    }
}
