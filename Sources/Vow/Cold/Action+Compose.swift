// Actions one behind the other, and actions with a callback bound to them.

extension Action {
    /// An action that calls this action and then `next` with its output.
    public func then<Final>(_ next: Action<Output, Final>) -> Action<Input, Final> {
        appending { $0.then { next($0) } }
    }

    /// An action that calls this action and transforms its output.
    public func map<NewOutput>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Output) throws -> NewOutput
    ) -> Action<Input, NewOutput> {
        appending { $0.map(on: executor, transform) }
    }

    /// An action that calls this action and replaces its failure by an output.
    public func recover(
        on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (any Error) throws -> Output
    ) -> Action {
        appending { $0.recover(on: executor, body) }
    }

    private func appending<NewOutput>(
        _ link: @escaping @Sendable (Promise<Output, any Error>) -> Promise<NewOutput, any Error>
    ) -> Action<Input, NewOutput> {
        Action<Input, NewOutput>(chain.appending(link))
    }

    /// Binds a callback now, to be called with the output of every call that is made later.
    ///
    /// - Parameter failure: is called with the failure of a call; without it, one is reported as unhandled.
    /// - Returns: the function that makes the calls. It keeps the action and the callbacks.
    public func bind(
        on executor: PromiseExecutor? = nil, _ callback: @escaping @Sendable (Output) -> Void,
        failure: (@Sendable (any Error) -> Void)? = nil
    ) -> @Sendable (Input) -> Void {
        { input in
            let output = self(input, on: executor, callback)
            if let failure { output.catch(on: executor, failure) }
        }
    }
}
