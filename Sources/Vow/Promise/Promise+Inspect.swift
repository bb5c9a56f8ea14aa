// Looking at a promise here and now.

public import CVow

/// Where a promise stands.
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

    /// The result, if it is there. Having looked at a failure counts as having handled it. Of a promise that is rejected
    /// with what its failure type cannot stand for (see ``PromiseFailure``), there is none.
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

/// A settled promise's value or error (borrowed) as a result; nil: it is an error that the failure type cannot stand for.
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
