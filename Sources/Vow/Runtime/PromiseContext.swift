// A value that travels along a chain.

import CVow

/// A request's identity, a trace span, a user: each handler, and each closure on an executor, runs with the value that
/// was set where it was attached. Costs nothing where none is set.
public enum PromiseContext {
    /// The value here and now, if it is one of this type.
    public static func current<Value: Sendable>(as _: Value.Type = Value.self) -> Value? {
        let context = vow_context_get()
        return context.kind == VOW_NONE ? nil : decode(context)
    }

    /// Calls `body`, in which handlers are attached with this value.
    public static func with<Value: Sendable, Result, Failure: Error>(
        _ value: Value, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outer = vow_value_retain(vow_context_get())
        vow_context_set(encode(value))
        defer { vow_context_set(outer) }
        return try body()
    }

    /// Sets the value from here on: until the running handler returns or, outside of handlers, on this thread.
    public static func set<Value: Sendable>(_ value: Value?) {
        vow_context_set(value.map(encode) ?? vow_none())
    }
}
