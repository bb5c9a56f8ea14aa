// Errors made from others: one that says more, which member failed, after how many attempts; one that has less, plain data.

import CVow

/// A copy of an error (borrowed) that says more, or has another payload (consumed, but not without memory); nil without
/// memory.
@inline(never)
func makeErrorCopy(
    of error: vow_value, index: Int64? = nil, attempts: Int64? = nil, payload: vow_value? = nil
) -> vow_value? {
    if payload == nil, let late = error.box, late.isLate, late.alreadyMade == nil {
        let cls = late.part(LatePart.self).pointee.cls
        let copy = cls.pointee.copy(
            UnsafeMutableRawPointer(late.content), index ?? -1, attempts ?? 0)
        return copy.box?.pointee.isImmortal == false ? copy : nil
    }
    guard let original = error.box(of: VOW_ERROR) else { return nil }
    let part = original.part(ErrorPart.self).pointee
    let copy = makeError(
        domain: original.domain, code: part.code, message: original.message,
        payload: payload ?? part.payload)
    guard let mine = copy?.box?.part(ErrorPart.self) else { return nil }
    if payload == nil { part.payload.retained() }
    mine.pointee.index = index ?? part.index
    mine.pointee.attempts = attempts ?? part.attempts
    return copy
}

/// Payloads inside each other are copied so far, and so many values altogether: lists can share lists without measure.
private let deepestPayload = 64
private let mostValuesCopied = 1 << 20

/// A copy of an error (borrowed) that has nothing of the program's to call: of its payload, and the payloads in that,
/// objects and promises are left out. Nil without memory.
func makePlainError(of error: vow_value, _ thread: ThreadPointer) -> vow_value? {
    var left = mostValuesCopied
    return makePlain(error, 0, &left, thread)
}

private func makePlain(
    _ value: vow_value, _ depth: Int, _ left: inout Int, _ thread: ThreadPointer
) -> vow_value? {
    left -= 1
    if value.kind == VOW_OBJECT || value.kind == VOW_PROMISE || depth > deepestPayload || left < 0 {
        return vow_none()
    }
    if value.kind < VOW_STRING { return value }
    guard let box = value.readable else { return nil }
    switch value.kind {
    case VOW_STRING: return vow_value(VOW_STRING, box).retained()
    case VOW_LIST:
        let count = box.part(ListPart.self).pointee.count
        guard let list = makeEmptyList(count: count), let items = list.box?.items else {
            return nil
        }
        for index in 0..<count {
            guard let item = makePlain(box.items[index], depth + 1, &left, thread) else {
                list.release(thread)
                return nil
            }
            items[index] = item
        }
        return list
    default:
        let payload = box.part(ErrorPart.self).pointee.payload
        guard let plain = makePlain(payload, depth + 1, &left, thread) else { return nil }
        let copy = makeErrorCopy(of: value, payload: plain)
        if copy == nil { plain.release(thread) }
        return copy
    }
}
