// The kind and length of a value, without its content: for files that others may read.

import CVow
import CVowPlatform

func describeKind(of value: vow_value, into text: inout TextBuffer) {
    switch value.kind {
    case VOW_NONE: text.append("none")
    case VOW_BOOL: text.append("bool")
    case VOW_INT: text.append("integer")
    case VOW_DOUBLE: text.append("double")
    case VOW_POINTER: text.append("pointer")
    case VOW_PROMISE: text.append("promise")
    default: describeKind(ofBox: value, into: &text)
    }
}

private func describeKind(ofBox value: vow_value, into text: inout TextBuffer) {
    guard var box = value.box else {
        text.append("a value of an unknown kind")
        return
    }
    if box.isLate {
        guard let made = box.alreadyMade else {
            text.append("Swift value")
            return
        }
        box = made
    }
    switch value.kind {
    case VOW_STRING:
        text.append("string of ")
        text.append(Int64(box.part(StringPart.self).pointee.length))
        text.append(" bytes")
    case VOW_OBJECT:
        text.append("object")
        guard let name = box.cls?.pointee.name else { return }
        text.append(" ")
        text.append(name, strlen(name))
    case VOW_LIST:
        text.append("list of ")
        text.append(Int64(box.part(ListPart.self).pointee.count))
    default:
        let error = box.part(ErrorPart.self).pointee
        text.append("error ")
        text.append(box.domain, error.domainLength)
        text.append(" ")
        text.append(error.code)
    }
}
