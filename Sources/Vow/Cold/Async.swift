// Work that is described now and runs later, each time anew.

/// A description of asynchronous work: nothing runs until ``execute(on:_:)`` or ``promise()``, and each of these runs all
/// of it again.
///
/// It is a value without state: runs are independent, and share only the captures of the closures. A ``Promise`` is the
/// opposite: it is one run, which has begun, and remembers the result.
///
/// ```swift
/// let page = Async<String> { resolver in legacy.fetch { resolver.settle($0, $1) } }
/// let length = page.map { $0.count }   // Nothing has been fetched.
/// length.execute { print($0) }         // Fetches once,
/// length.execute { print($0) }         // and once more.
/// ```
///
/// A description may have any number of links, and recursion through ``flatMap(on:_:)`` runs in constant memory.
public struct Async<Value: Sendable>: Sendable {
    let chain: ColdChain<Void>

    init(_ chain: ColdChain<Void>) { self.chain = chain }

    /// Describes work that answers to a resolver, by a callback for example. The first answer counts. An error thrown by
    /// `body` is the failure; a resolver that is released without an answer gives ``PromiseError/broken``.
    ///
    /// - Parameter body: called at each run, at once, on the thread that runs it.
    public init(_ body: @escaping @Sendable (PromiseResolver<Value, any Error>) throws -> Void) {
        chain = ColdChain { _ in Promise(body) }
    }

    /// Describes work that runs on an executor.
    public init(on executor: PromiseExecutor, _ body: @escaping @Sendable () throws -> Value) {
        chain = ColdChain { _ in Promise(on: executor, body) }
    }

    /// Describes work that begins with making a promise.
    ///
    /// - Parameter make: called at each run, at once, on the thread that runs it. An error thrown by it is the failure.
    public init(making make: @escaping @Sendable () throws -> Promise<Value, any Error>) {
        chain = ColdChain { _ in .attempt(make) }
    }

    /// A promise, which runs already, where a description is asked for: every run has that promise's one result.
    public init(_ promise: Promise<Value, any Error>) {
        chain = ColdChain { _ in promise }
    }

    /// Begins a run, and is the promise of its result: from here on the work is hot.
    ///
    /// Cancelling the promise, or letting go of it, cancels the run as far as it has come.
    public func promise() -> Promise<Value, any Error> { chain.run(()) }

    /// Begins a run and has its result given to `callback`.
    ///
    /// - Returns: the promise of the run, to cancel it by.
    @discardableResult
    public func execute(
        on executor: PromiseExecutor? = nil,
        _ callback: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Promise<Value, any Error> {
        promise().onComplete(on: executor, callback)
    }
}

extension Async {
    /// Comes to this value.
    public static func value(_ value: Value) -> Async { Async(.value(value)) }

    /// Comes to this value; the name that the laws of monads call it by.
    public static func unit(_ value: Value) -> Async { .value(value) }

    /// Comes to this failure.
    public static func failure(_ failure: any Error) -> Async {
        // Not of one promise for all runs: a failure is each run's own, to be handled or reported.
        Async(making: { .failure(failure) })
    }
}

extension Async where Value == Void {
    /// Comes to nothing in particular.
    public static var value: Async { .value(()) }
}
