// Descriptions of later steps: map, flatMap, recover.

extension Async {
    /// Describes this work, followed by `transform` for its value. A failure passes through.
    public func map<NewValue>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        appending { $0.map(on: executor, transform) }
    }

    /// Describes this work and, with its value, more work. A failure passes through.
    public func flatMap<NewValue>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        appending { $0.then(on: executor) { try transform($0).promise() } }
    }

    /// Describes this work, followed by `body` for its failure.
    public func recover(
        on executor: PromiseExecutor? = nil, _ body: @escaping @Sendable (any Error) throws -> Value
    ) -> Async {
        appending { $0.recover(on: executor, body) }
    }

    /// Describes this work and, if it fails, other work.
    @_disfavoredOverload  // Either would do for a closure that only throws.
    public func recover(
        on executor: PromiseExecutor? = nil, _ body: @escaping @Sendable (any Error) throws -> Async
    ) -> Async {
        appending { promise in
            promise.recover(on: executor) { error throws -> Promise<Value, any Error> in
                try body(error).promise()
            }
        }
    }

    private func appending<NewValue>(
        _ link: @escaping @Sendable (Promise<Value, any Error>) -> Promise<NewValue, any Error>
    ) -> Async<NewValue> {
        Async<NewValue>(chain.appending(link))
    }
}
