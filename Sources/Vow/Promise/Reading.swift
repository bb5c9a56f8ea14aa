// The inputs of handlers: the value or the failure of the promise that they read.

public import CVow

/// Calls `body` with the value (borrowed) as Swift sees it. If it is none of the type, the answer is a rejection.
@inlinable @inline(__always)
func reading<Value>(_ input: vow_value, _ body: (Value) -> vow_value) -> vow_value {
    guard let value = decode(input, as: Value.self) else {
        return encodeError(unexpected(input, Value.self))
    }
    return body(value)
}

@usableFromInline
func unexpected<Value>(_ input: vow_value, _: Value.Type) -> PromiseError {
    .unexpectedValue(expected: "\(Value.self)", found: input.text)
}

/// The same with a failure. A failure that the type has no case for passes on.
@inlinable @inline(__always)
func readingFailure<Failure: Error>(
    _ input: vow_value, _ body: (Failure) -> vow_value
) -> vow_value {
    guard let failure = decodeFailure(input, as: Failure.self) else {
        return vow_value_retain(input)
    }
    return body(failure)
}

/// The same with the result.
@inlinable @inline(__always)
func readingResult<Success, Failure: Error>(
    _ input: vow_value, _ body: (Result<Success, Failure>) -> vow_value
) -> vow_value {
    if input.kind == VOW_ERROR { return readingFailure(input) { body(.failure($0)) } }
    return reading(input) { body(.success($0)) }
}

/// The outcome of a throwing closure, as a value that resolves.
@inlinable @inline(__always)
func outcome<Value, Failure: Error>(of body: () throws(Failure) -> Value) -> vow_value {
    do { return encode(try body()) } catch { return encodeError(error) }
}

/// The same for a closure that returns a promise, which a promise with failures of this type follows.
@inlinable @inline(__always)
func outcome<Success, Inner, Failure: Error, Outer: Error>(
    followedBy _: Outer.Type, of body: () throws(Failure) -> Promise<Success, Inner>
) -> vow_value {
    do { return try body().followed(by: Outer.self) } catch { return encodeError(error) }
}

extension Promise {
    /// Itself as a value (owned), to be followed.
    @inlinable
    var cValue: vow_value { vow_from_promise(retainedPointer()) }
}
