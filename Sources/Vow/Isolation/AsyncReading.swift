// The inputs of asynchronous handlers: the value of the promise that they read.

import CVow

/// As the synchronous one, with a body that may await: calls it with the value (borrowed) as Swift sees it. For a value of
/// another type the answer is a rejection.
nonisolated(nonsending) func reading<Value: Sendable>(
    _ input: vow_value, _ body: nonisolated(nonsending) (Value) async -> vow_value
) async -> vow_value {
    guard let value = decode(input, as: Value.self) else {
        return encodeError(unexpected(input, Value.self))
    }
    return await body(value)
}

/// The value or error of an asynchronous closure, as a value (owned) that resolves.
nonisolated(nonsending) func outcome<Value: Sendable, Failure: Error>(
    of body: nonisolated(nonsending) () async throws(Failure) -> Value
) async -> vow_value {
    do { return encode(try await body()) } catch { return encodeError(error) }
}

/// The same for a body that returns a promise, which a promise with failures of this type follows.
nonisolated(nonsending) func outcome<
    Success, Inner, Failure: Error, Outer: Error
>(
    followedBy _: Outer.Type,
    of body: nonisolated(nonsending) () async throws(Failure) -> Promise<Success, Inner>
) async -> vow_value {
    do { return try await body().followed(by: Outer.self) } catch {
        return encodeError(error)
    }
}
