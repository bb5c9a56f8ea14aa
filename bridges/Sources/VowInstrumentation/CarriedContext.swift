// The context of tracers and loggers, which travels along chains.

public import Instrumentation
import Vow

extension InstrumentationContext {
    /// The context of the handler that runs here, which is the one of the place where it was attached; outside of
    /// handlers, and where nothing is carried, the task's.
    public static var carried: InstrumentationContext? {
        PromiseContext.current(as: InstrumentationContext.self) ?? .current
    }
}

/// Calls `body` in a context: as the task's, for what is called there, and as the one that handlers attached there carry.
///
/// Without an argument it is the carried one. So in a handler it lets libraries see the context, and in a task it lets
/// handlers carry the task's.
///
/// ```swift
/// withCarriedContext {
///     fetchPage("/").map { page in withCarriedContext { client.count(page) } }
/// }
/// ```
///
/// The context is the value of ``Vow/PromiseContext``, of which there is one: a program that sets values of its own there
/// sets them as keys of the context instead.
@discardableResult
public func withCarriedContext<Result, Failure: Error>(
    _ context: InstrumentationContext? = .carried, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    guard let context else { return try body() }
    let outcome = InstrumentationContext.withValue(context) {
        PromiseContext.with(context) {
            Swift.Result { () throws(Failure) -> Result in try body() }
        }
    }
    return try outcome.get()
}
