// Values as text for people.

import CVow
import CVowPlatform

/// A list this deep is written as its number of items.
private let deepestList = 8
/// Lists that share lists have a text without measure, so the number of values is bounded.
let mostValuesDescribed = 1000

/// - Parameter makes: late values are converted, by foreign code.
func describe(_ value: vow_value, into text: inout TextBuffer, makes: Bool = false) {
    var left = mostValuesDescribed
    describe(value, into: &text, 0, &left, makes)
}

private func describe(
    _ value: vow_value, into text: inout TextBuffer, _ depth: Int, _ left: inout Int,
    _ makes: Bool
) {
    left -= 1
    switch value.kind {
    case VOW_NONE: text.append("none")
    case VOW_BOOL: text.append(value.as.boolean ? "true" : "false")
    case VOW_INT: text.append(value.as.integer)
    case VOW_DOUBLE: text.append(value.as.real)
    case VOW_POINTER:
        text.append("pointer ")
        text.appendAddress(UnsafeRawPointer(value.as.pointer))
    case VOW_PROMISE:
        text.append("promise ")
        text.appendAddress(UnsafeRawPointer(value.as.pointer))
    default: describeBox(value, into: &text, depth, &left, makes)
    }
}

private func describeBox(
    _ value: vow_value, into text: inout TextBuffer, _ depth: Int, _ left: inout Int,
    _ makes: Bool
) {
    guard var box = value.box else {
        text.append("a value of an unknown kind")
        return
    }
    if box.isLate {
        // Under a lock no foreign code may convert it.
        guard let made = makes ? box.make() : box.alreadyMade else {
            text.append("Swift value")
            return
        }
        box = made
    }
    switch value.kind {
    case VOW_STRING:
        text.append("\"")
        text.append(box.bytes, box.part(StringPart.self).pointee.length)
        text.append("\"")
    case VOW_OBJECT:
        let object = box.part(ObjectPart.self).pointee
        text.append("object ")
        if let name = box.cls?.pointee.name { text.append(name, strlen(name)) }
        text.append(" ")
        text.appendAddress(UnsafeRawPointer(object.pointer))
    case VOW_LIST: describeList(box, into: &text, depth, &left, makes)
    default: describeError(box, into: &text, depth, &left, makes)
    }
}

private func describeList(
    _ box: BoxPointer, into text: inout TextBuffer, _ depth: Int, _ left: inout Int,
    _ makes: Bool
) {
    let count = box.part(ListPart.self).pointee.count
    if depth >= deepestList {
        text.append("list of ")
        text.append(Int64(count))
        return
    }
    text.append("[")
    for index in 0..<count {
        if index > 0 { text.append(", ") }
        if left <= 0 {
            text.append("...")
            break
        }
        describe(box.items[index], into: &text, depth + 1, &left, makes)
    }
    text.append("]")
}

private func describeError(
    _ box: BoxPointer, into text: inout TextBuffer, _ depth: Int, _ left: inout Int,
    _ makes: Bool
) {
    let error = box.part(ErrorPart.self).pointee
    text.append("error ")
    text.append(box.domain, error.domainLength)
    text.append(" ")
    text.append(error.code)
    if strcmp(box.domain, "vow") == 0 {
        text.append(" (")
        text.append(nameOfError(error.code))
        text.append(")")
    }
    if error.messageLength > 0 {
        text.append(": ")
        text.append(box.message, error.messageLength)
    }
    if error.index >= 0 {
        text.append(" (member ")
        text.append(error.index)
        text.append(")")
    }
    if error.attempts > 0 {
        text.append(" (after ")
        text.append(error.attempts)
        text.append(error.attempts == 1 ? " attempt)" : " attempts)")
    }
    if error.payload.kind != VOW_NONE && depth < deepestList {
        text.append(" [")
        describe(error.payload, into: &text, depth + 1, &left, makes)
        text.append("]")
    }
}

func nameOfError(_ code: Int64) -> StaticString {
    switch Int32(truncatingIfNeeded: code) {
    case _ where code != Int64(Int32(truncatingIfNeeded: code)): return "unknown"
    case VOW_EINVAL: return "VOW_EINVAL"
    case VOW_ENOMEM: return "VOW_ENOMEM"
    case VOW_EFORKED: return "VOW_EFORKED"
    case VOW_EBROKEN: return "VOW_EBROKEN"
    case VOW_ECYCLE: return "VOW_ECYCLE"
    case VOW_ECANCELLED: return "VOW_ECANCELLED"
    case VOW_ETIMEDOUT: return "VOW_ETIMEDOUT"
    case VOW_EDEADLOCK: return "VOW_EDEADLOCK"
    case VOW_EAGGREGATE: return "VOW_EAGGREGATE"
    case VOW_ESHUTDOWN: return "VOW_ESHUTDOWN"
    case VOW_EREASON: return "VOW_EREASON"
    default: return "unknown"
    }
}
