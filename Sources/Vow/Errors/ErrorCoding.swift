// How Swift errors become the library's, and come back.

public import CVow
import VowCore

/// An error (owned) that represents a Swift error. C reads domain, code and message; Swift finds the error itself again.
@inlinable
func encodeError<Failure: Error>(_ failure: Failure) -> vow_value {
    // Converted, an `any Error` would become an error in an error.
    if Failure.self == (any Error).self {
        return encodeAnyError(unsafeBitCast(failure, to: (any Error).self))
    }
    return encodeAnyError(failure)
}

@usableFromInline
func encodeAnyError(_ error: any Error) -> vow_value {
    if isKnown(type(of: error)), let known = encodeKnownError(error) { return known }
    let late = LateError(error: error)
    // A trace names the error while nothing foreign may run.
    return isTraceOn() ? late.makeNow() : .late(VOW_ERROR, late, code: Int64(error._code))
}

/// Asked first, for a cast costs much more than to compare types.
private func isKnown(_ type: any Error.Type) -> Bool {
    type == CError.self || type == PromiseError.self || type == CancellationError.self
}

private func encodeKnownError(_ error: any Error) -> vow_value? {
    switch error {
    case let error as CError: error.cValue.makeCValue()
    case let error as PromiseError:
        ownError(error) ?? wrapped(error, "vow.swift", code: error._code)
    case is CancellationError: vow_error("vow", Int64(VOW_ECANCELLED), "cancelled")
    default: nil
    }
}

private func wrapped(_ error: any Error, _ domain: String, code: Int) -> vow_value {
    vow_error_wrap(domain, Int64(code), "\(error)", .holding(error, as: (any Error).self))
}

/// The library's errors that C knows.
private func ownError(_ error: PromiseError) -> vow_value? {
    func make(_ code: Int32) -> vow_value { vow_error("vow", Int64(code), "\(error)") }
    switch error {
    case .invalidArgument: return make(VOW_EINVAL)
    case .outOfMemory: return make(VOW_ENOMEM)
    case .forked: return make(VOW_EFORKED)
    case .broken: return make(VOW_EBROKEN)
    case .cycle: return make(VOW_ECYCLE)
    case .deadlock: return make(VOW_EDEADLOCK)
    case .shutDown: return make(VOW_ESHUTDOWN)
    case .timedOut(let last):
        let payload = last.map(encodeAnyError) ?? vow_none()
        return vow_error_wrap("vow", Int64(VOW_ETIMEDOUT), "\(error)", payload)
    case .reason(let value):
        return vow_error_wrap("vow", Int64(VOW_EREASON), "\(error)", value.makeCValue())
    case .unexpectedValue, .neitherValueNorError, .noSuchElement: return nil
    }
}

/// The Swift error that an error (borrowed) represents.
@usableFromInline
func decodeError(_ error: vow_value) -> any Error {
    if let late = error.heldLate(as: LateError.self) { return late.error }
    let payload = vow_error_payload(error)
    if let original = payload.held(as: (any Error).self) { return original }
    if vow_error_domain(error).map({ String(cString: $0) }) == "vow",
        let known = decodeOwnError(error, payload)
    {
        return known
    }
    return CError(CValue(cValue: error))
}

private func decodeOwnError(_ error: vow_value, _ payload: vow_value) -> (any Error)? {
    switch Int32(truncatingIfNeeded: vow_error_code(error)) {
    case VOW_EINVAL:
        PromiseError.invalidArgument(vow_error_message(error).map { String(cString: $0) } ?? "")
    case VOW_ENOMEM: PromiseError.outOfMemory
    case VOW_EFORKED: PromiseError.forked
    case VOW_EBROKEN: PromiseError.broken
    case VOW_ECYCLE: PromiseError.cycle
    case VOW_ECANCELLED: CancellationError()
    case VOW_ETIMEDOUT:
        PromiseError.timedOut(lastError: payload.kind == VOW_ERROR ? decodeError(payload) : nil)
    case VOW_EDEADLOCK: PromiseError.deadlock
    case VOW_EAGGREGATE: AggregateError(list: payload)
    case VOW_ESHUTDOWN: PromiseError.shutDown
    case VOW_EREASON: PromiseError.reason(CValue(cValue: payload))
    default: nil
    }
}

extension AggregateError {
    fileprivate init(list: vow_value) {
        errors = (0..<vow_list_count(list)).map { place in
            let error = vow_list_at(list, place)
            let index = error.heldLate(as: LateError.self)?.index ?? vow_error_index(error)
            return MemberError(
                label: index >= 0 ? Int(index) : place, underlying: decodeError(error))
        }
    }
}

/// The typed failure that an error (borrowed) represents; nil: this type has no case for it.
@inlinable
func decodeFailure<Failure: Error>(_ error: vow_value, as _: Failure.Type = Failure.self)
    -> Failure?
{
    // Without the coercion the content would be cast.
    if Failure.self == (any Error).self {
        return unsafeBitCast(decodeError(error) as any Error, to: Failure.self)
    }
    if Failure.self == Never.self { return nil }
    let decoded = decodeError(error)
    if let failure = decoded as? Failure { return failure }
    guard let type = Failure.self as? any PromiseFailure.Type else { return nil }
    return type.init(promiseError: decoded) as? Failure
}
