// An error that says more than the one it was made from: which member failed, after how many
// attempts.

import CVow

/// A copy of an error (borrowed) that says more about where it comes from; nil without memory.
func makeErrorCopy(of error: vow_value, _ change: (inout ErrorPart) -> Void) -> vow_value? {
    guard let original = error.box(of: VOW_ERROR) else { return nil }
    let part = original.part(ErrorPart.self).pointee
    let copy = makeError(
        domain: original.domain, code: part.code, message: original.message, payload: part.payload)
    guard let mine = copy?.box?.part(ErrorPart.self) else { return nil }
    part.payload.retained()
    mine.pointee.index = part.index
    mine.pointee.attempts = part.attempts
    change(&mine.pointee)
    return copy
}
