// Looking at a promise here and now.

public import CVow

/// The state of a promise.
public enum PromiseState: Sendable {
    case pending, fulfilled, rejected
}

extension Promise {
    @inlinable
    public var state: PromiseState {
        switch withPointer({ vow_promise_state($0) }) {
        case VOW_FULFILLED: .fulfilled
        case VOW_REJECTED: .rejected
        default: .pending
        }
    }

    @inlinable
    public var isPending: Bool { state == .pending }

    /// The result, if it is there. Reading a failure handles it. A promise that is rejected with an error that its
    /// failure type has no case for (see ``PromiseFailure``) has no result.
    @inlinable
    public var result: Result<Success, Failure>? {
        withPointer { promise in
            var value = vow_none()
            return vow_promise_peek(promise, &value) ? readResult(value) : nil
        }
    }

    /// The failure, if it is rejected.
    @inlinable
    public var error: Failure? {
        guard case .failure(let failure) = result else { return nil }
        return failure
    }
}

/// A settled promise's value or error (borrowed) as a result; nil: the failure type has no case for the error.
@inlinable
func readResult<Success, Failure: Error>(_ value: vow_value) -> Result<Success, Failure>? {
    if value.kind != VOW_ERROR {
        if let success = decode(value, as: Success.self) { return .success(success) }
        let error = encodeError(unexpected(value, Success.self))
        defer { vow_value_release(error) }
        return decodeFailure(error, as: Failure.self).map { .failure($0) }
    }
    return decodeFailure(value, as: Failure.self).map { .failure($0) }
}

extension Promise: CustomStringConvertible {
    public var description: String {
        withPointer { promise in
            var value = vow_none()
            if vow_promise_state(promise) == VOW_PENDING { return "Promise(pending)" }
            _ = vow_promise_peek(promise, &value)
            return value.kind == VOW_ERROR
                ? "Promise(rejected: \(decodeError(value)))"
                : "Promise(fulfilled: \(decode(value, as: Success.self).map { "\($0)" } ?? value.text))"
        }
    }
}
