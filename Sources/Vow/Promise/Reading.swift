// What handlers read: the value or the failure of the promise that they stand on.

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

/// The same with a failure. One that the type cannot stand for passes on.
@inlinable @inline(__always)
func readingFailure<Failure: Error>(
    _ input: vow_value, _ body: (Failure) -> vow_value
) -> vow_value {
    guard let failure = decodeFailure(input, as: Failure.self) else {
        return vow_value_retain(input)
    }
    return body(failure)
}

/// The same with whichever it is.
@inlinable @inline(__always)
func readingResult<Success, Failure: Error>(
    _ input: vow_value, _ body: (Result<Success, Failure>) -> vow_value
) -> vow_value {
    if input.kind == VOW_ERROR { return readingFailure(input) { body(.failure($0)) } }
    return reading(input) { body(.success($0)) }
}

/// What a throwing closure comes to, as a value that resolves.
@inlinable @inline(__always)
func outcome<Value, Failure: Error>(of body: () throws(Failure) -> Value) -> vow_value {
    do { return encode(try body()) } catch { return encodeError(error) }
}

/// The same of one that has read a value (`input`, borrowed).
@inlinable @inline(__always)
func outcome<Value, Failure: Error>(
    like input: vow_value, of body: () throws(Failure) -> Value
) -> vow_value {
    do { return encode(try body(), like: input) } catch { return encodeError(error) }
}

/// The same of one that gives a promise, which is followed.
@inlinable @inline(__always)
func outcomeOfPromise<Success, PromiseFailure, Failure: Error>(
    of body: () throws(Failure) -> Promise<Success, PromiseFailure>
) -> vow_value {
    do { return try body().cValue } catch { return encodeError(error) }
}

extension Promise {
    /// Itself as a value (owned), to be followed.
    @inlinable
    var cValue: vow_value { vow_from_promise(retainedPointer()) }
}
