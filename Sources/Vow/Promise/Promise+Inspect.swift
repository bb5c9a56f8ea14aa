// Looking at a promise here and now.

import CVow

/// Where a promise stands.
public enum PromiseState: Sendable {
    case pending, fulfilled, rejected
}

extension Promise {
    public var state: PromiseState {
        switch withPointer({ vow_promise_state($0) }) {
        case VOW_FULFILLED: .fulfilled
        case VOW_REJECTED: .rejected
        default: .pending
        }
    }

    public var isPending: Bool { state == .pending }

    /// The result, if it is there. Having looked at a failure counts as having handled it.
    public var result: Result<Success, Failure>? {
        withPointer { promise in
            var value = vow_none()
            return vow_promise_peek(promise, &value) ? readResult(value) : nil
        }
    }

    /// The failure, if it is rejected.
    public var error: Failure? {
        guard case .failure(let failure) = result else { return nil }
        return failure
    }
}

/// A settled promise's value or error (borrowed) as a result.
func readResult<Success, Failure: Error>(_ value: vow_value) -> Result<Success, Failure> {
    if value.kind != VOW_ERROR {
        if let success = decode(value, as: Success.self) { return .success(success) }
        let error = encodeError(unexpected(value, Success.self))
        defer { vow_value_release(error) }
        return .failure(failureOrStop(error))
    }
    return .failure(failureOrStop(value))
}

/// A failure type that cannot stand for an error (borrowed) is a mistake of the program.
private func failureOrStop<Failure: Error>(_ error: vow_value) -> Failure {
    guard let failure = decodeFailure(error, as: Failure.self) else {
        fatalError(
            "a promise was rejected with \(decodeError(error)), which its failure type "
                + "\(Failure.self) cannot stand for: see PromiseFailure")
    }
    return failure
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
