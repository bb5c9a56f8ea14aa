// An asynchronous function as a value.

/// An asynchronous function: called with an input, it comes to an output, each call anew.
///
/// ```swift
/// let fetch = Action<Int, String> { id, completion in network.get(id, completion) }
/// let show = fetch.map { $0.uppercased() }.bind { print($0) }
/// show(1)                            // Prints, later on.
/// let page = try await fetch(2).value  // The same as a promise.
/// ```
///
/// Calls are independent. The caller of an action gets a ``Promise``: a call has at most one output, and an action
/// that releases its completion without an output fails with ``PromiseError/broken``.
public struct Action<Input: Sendable, Output: Sendable>: Sendable {
    let chain: ColdChain<Input>

    init(_ chain: ColdChain<Input>) { self.chain = chain }

    /// An action that gives its output to a completion. The first time counts.
    public init(_ body: @escaping @Sendable (Input, @escaping @Sendable (Output) -> Void) -> Void) {
        chain = ColdChain { input in
            Promise<Output, any Error> { resolver in body(input) { resolver.fulfill($0) } }
        }
    }

    // Disfavoured for closures that use neither a resolver nor a completion: either would do.
    /// An action whose `body` answers to a resolver. An error thrown by `body` is the failure.
    @_disfavoredOverload
    public init(
        resolving body:
            @escaping @Sendable (Input, PromiseResolver<Output, any Error>) throws -> Void
    ) {
        chain = ColdChain { input in
            Promise<Output, any Error> { resolver in try body(input, resolver) }
        }
    }

    // Disfavoured for functions that make promises: those promises' values are the outputs.
    /// An action of a function, which runs at once, on the thread that calls.
    @_disfavoredOverload
    public init(_ body: @escaping @Sendable (Input) throws -> Output) {
        chain = ColdChain { input in
            Promise<Output, any Error>.attempt { () throws -> Output in try body(input) }
        }
    }

    /// An action of a function that makes a promise, which is waited for.
    public init<Other: Error>(_ body: @escaping @Sendable (Input) throws -> Promise<Output, Other>)
    {
        chain = ColdChain { input in
            .attempt { () throws -> Promise<Output, Other> in try body(input) }
        }
    }

    /// Calls it; the promise of the output. Cancelling the promise, or letting go of it, cancels this call.
    @discardableResult
    public func callAsFunction(_ input: Input) -> Promise<Output, any Error> { chain.run(input) }

    /// Calls the action, and then `completion` with the output.
    ///
    /// - Returns: the promise of the output, for its failure: `fetch(1) { print($0) }.catch { print($0) }`. A failure
    ///   without a handler is reported as unhandled.
    @discardableResult
    public func callAsFunction(
        _ input: Input, on executor: PromiseExecutor? = nil,
        _ completion: @escaping @Sendable (Output) -> Void
    ) -> Promise<Output, any Error> {
        self(input).onSuccess(on: executor, completion)
    }

    /// The call with this input, described and not made.
    public func with(_ input: Input) -> Async<Output> {
        Async<Output>(making: { self(input) })
    }
}

extension Action where Input == Void {
    /// A description of work where an action is asked for.
    public init(_ work: Async<Output>) {
        chain = work.chain
    }

    @discardableResult
    public func callAsFunction() -> Promise<Output, any Error> { self(()) }

    /// Calls it and has `completion` called with the output.
    @discardableResult
    public func callAsFunction(
        on executor: PromiseExecutor? = nil, _ completion: @escaping @Sendable (Output) -> Void
    ) -> Promise<Output, any Error> {
        self((), on: executor, completion)
    }
}
