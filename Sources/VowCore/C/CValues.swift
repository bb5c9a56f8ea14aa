// Chapter 1 of vow.h: values, and the readers that say whether a value is of their kind.

import CVow
import CVowPlatform

@_cdecl("vow_string") @implementation
public func vow_string(_ utf8: UnsafePointer<CChar>!, _ length: Int) -> vow_value {
    _ = currentThread()
    // -1 is SIZE_MAX, seen as a signed number.
    let isTerminated = length == -1
    guard let bytes: UnsafePointer<CChar> = utf8 else {
        if length != 0 { return invalidArgument("vow_string", "utf8 is NULL") }
        return makeString(nil, length: 0) ?? ownErrors.noMemory
    }
    return makeString(bytes, length: isTerminated ? strlen(bytes) : length) ?? ownErrors.noMemory
}

@_cdecl("vow_object") @implementation
public func vow_object(_ pointer: UnsafeMutableRawPointer!, _ cls: UnsafePointer<vow_class>!)
    -> vow_value
{
    let thread = currentThread()
    guard let cls: UnsafePointer<vow_class> = cls else {
        return invalidArgument("vow_object", "cls is NULL")
    }
    if !isSizeValid(cls.pointee.size, of: vow_class.self) {
        return invalidArgument("vow_object", "cls->size is not the size of vow_class")
    }
    if let object = makeObject(pointer, cls) { return object }
    if let destroy = cls.pointee.destroy { runForeign(thread) { destroy(pointer) } }
    leave(thread)
    return ownErrors.noMemory
}

@_cdecl("vow_list") @implementation
public func vow_list(_ items: UnsafePointer<vow_value>!, _ count: Int) -> vow_value {
    let thread = currentThread()
    if items == nil && count != 0 { return invalidArgument("vow_list", "items is NULL") }
    if !canBeArray(count) { return ownErrors.noMemory }
    for index in 0..<count { checkValue(items[index], "vow_list") }
    if let list = makeList(items, count: count) { return list }
    for index in 0..<count { items[index].release(thread) }
    leave(thread)
    return ownErrors.noMemory
}

@_cdecl("vow_error") @implementation
public func vow_error(
    _ domain: UnsafePointer<CChar>!, _ code: Int64, _ message: UnsafePointer<CChar>!
) -> vow_value {
    makeErrorValue("vow_error", domain, code, message, payload: vow_none())
}

@_cdecl("vow_error_wrap") @implementation
public func vow_error_wrap(
    _ domain: UnsafePointer<CChar>!, _ code: Int64, _ message: UnsafePointer<CChar>!,
    _ cause_or_payload: vow_value
) -> vow_value {
    checkValue(cause_or_payload, "vow_error_wrap")
    return makeErrorValue("vow_error_wrap", domain, code, message, payload: cause_or_payload)
}

private func makeErrorValue(
    _ function: StaticString, _ domain: UnsafePointer<CChar>?, _ code: Int64,
    _ message: UnsafePointer<CChar>?, payload: vow_value
) -> vow_value {
    let thread = currentThread()
    let error: vow_value?
    if let domain {
        error = makeError(domain: domain, code: code, message: message, payload: payload)
        if let error { return error }
    } else {
        error = invalidArgument(function, "domain is NULL")
    }
    payload.release(thread)
    leave(thread)
    return error ?? ownErrors.noMemory
}

@_cdecl("vow_error_plain") @implementation
public func vow_error_plain(_ error: vow_value) -> vow_value {
    checkValue(error, "vow_error_plain")
    let thread = currentThread()
    if !error.isError { return invalidArgument("vow_error_plain", "the value is no error") }
    let plain = makePlainError(of: error, thread)
    leave(thread)
    return plain ?? ownErrors.noMemory
}

@_cdecl("vow_from_promise") @implementation
public func vow_from_promise(_ promise: OpaquePointer!) -> vow_value {
    guard let record = consumedRecord(promise, "vow_from_promise") else {
        _ = currentThread()
        return invalidArgument("vow_from_promise", "promise is NULL")
    }
    return vow_value(VOW_PROMISE, record)
}

@_cdecl("vow_value_retain") @implementation
public func vow_value_retain(_ value: vow_value) -> vow_value {
    checkValue(value, "vow_value_retain")
    return value.retained()
}

@_cdecl("vow_value_release") @implementation
public func vow_value_release(_ value: vow_value) {
    checkValue(value, "vow_value_release")
    if value.kind < VOW_STRING { return }
    let thread = currentThread()
    value.release(thread)
    leave(thread)
}

// MARK: Readers

@_cdecl("vow_string_bytes") @implementation
public func vow_string_bytes(_ value: vow_value, _ length: UnsafeMutablePointer<Int>!)
    -> UnsafePointer<CChar>!
{
    checkValue(value, "vow_string_bytes")
    let box = value.box(of: VOW_STRING)
    length?.pointee = box?.part(StringPart.self).pointee.length ?? 0
    return box.map { UnsafePointer($0.bytes) }
}

@_cdecl("vow_object_pointer") @implementation
public func vow_object_pointer(
    _ value: vow_value, _ cls: UnsafePointer<vow_class>!
) -> UnsafeMutableRawPointer! {
    checkValue(value, "vow_object_pointer")
    guard let box = value.box(of: VOW_OBJECT), cls == nil || box.cls == cls else { return nil }
    return box.part(ObjectPart.self).pointee.pointer
}

@_cdecl("vow_list_count") @implementation
public func vow_list_count(_ value: vow_value) -> Int {
    checkValue(value, "vow_list_count")
    return value.box(of: VOW_LIST)?.part(ListPart.self).pointee.count ?? 0
}

@_cdecl("vow_list_at") @implementation
public func vow_list_at(_ value: vow_value, _ index: Int) -> vow_value {
    checkValue(value, "vow_list_at")
    guard let list = value.box(of: VOW_LIST),
        index >= 0, index < list.part(ListPart.self).pointee.count
    else { return vow_none() }
    return list.items[index]
}

@_cdecl("vow_error_domain") @implementation
public func vow_error_domain(_ value: vow_value) -> UnsafePointer<CChar>! {
    checkValue(value, "vow_error_domain")
    return value.box(of: VOW_ERROR).map { UnsafePointer($0.domain) }
}

@_cdecl("vow_error_code") @implementation
public func vow_error_code(_ value: vow_value) -> Int64 {
    checkValue(value, "vow_error_code")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.code ?? 0
}

@_cdecl("vow_error_message") @implementation
public func vow_error_message(_ value: vow_value) -> UnsafePointer<CChar>! {
    checkValue(value, "vow_error_message")
    return value.box(of: VOW_ERROR).map { UnsafePointer($0.message) }
}

@_cdecl("vow_error_payload") @implementation
public func vow_error_payload(_ value: vow_value) -> vow_value {
    checkValue(value, "vow_error_payload")
    return value.box(of: VOW_ERROR)?.part(ErrorPart.self).pointee.payload ?? vow_none()
}

@_cdecl("vow_value_describe") @implementation
public func vow_value_describe(
    _ value: vow_value, _ buffer: UnsafeMutablePointer<CChar>!, _ size: Int
) -> Int32 {
    checkValue(value, "vow_value_describe")
    if buffer == nil && size != 0 { return VOW_EINVAL }
    var text = TextBuffer(size == 0 ? nil : buffer, capacity: size < 0 ? Int.max : size)
    describe(value, into: &text, makes: true)
    return Int32(clamping: text.length)
}

// MARK: Readers that say whether a value is of their kind

/// Writes content to its place, if the caller gave one. A place stays as it is if the value has another kind.
@inline(__always)
private func give<Content>(_ content: Content, to out: UnsafeMutablePointer<Content>?) -> Bool {
    out?.pointee = content
    return true
}

@_cdecl("vow_as_bool") @implementation
public func vow_as_bool(_ value: vow_value, _ out: UnsafeMutablePointer<Bool>!) -> Bool {
    value.kind == VOW_BOOL && give(value.as.boolean, to: out)
}

@_cdecl("vow_as_int") @implementation
public func vow_as_int(_ value: vow_value, _ out: UnsafeMutablePointer<Int64>!) -> Bool {
    value.kind == VOW_INT && give(value.as.integer, to: out)
}

@_cdecl("vow_as_double") @implementation
public func vow_as_double(_ value: vow_value, _ out: UnsafeMutablePointer<Double>!) -> Bool {
    value.kind == VOW_DOUBLE && give(value.as.real, to: out)
}

@_cdecl("vow_as_pointer") @implementation
public func vow_as_pointer(
    _ value: vow_value, _ out: UnsafeMutablePointer<UnsafeMutableRawPointer?>!
) -> Bool {
    value.kind == VOW_POINTER && give(value.as.pointer, to: out)
}

@_cdecl("vow_as_string") @implementation
public func vow_as_string(
    _ value: vow_value, _ bytes: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
    _ length: UnsafeMutablePointer<Int>!
) -> Bool {
    checkValue(value, "vow_as_string")
    guard let box = value.box(of: VOW_STRING) else { return false }
    bytes?.pointee = UnsafePointer(box.bytes)
    return give(box.part(StringPart.self).pointee.length, to: length)
}

@_cdecl("vow_as_object") @implementation
public func vow_as_object(
    _ value: vow_value, _ cls: UnsafePointer<vow_class>!,
    _ pointer: UnsafeMutablePointer<UnsafeMutableRawPointer?>!
) -> Bool {
    checkValue(value, "vow_as_object")
    guard let box = value.box(of: VOW_OBJECT), cls == nil || box.cls == cls else { return false }
    return give(box.part(ObjectPart.self).pointee.pointer, to: pointer)
}

@_cdecl("vow_as_list") @implementation
public func vow_as_list(_ value: vow_value, _ count: UnsafeMutablePointer<Int>!) -> Bool {
    checkValue(value, "vow_as_list")
    guard let list = value.box(of: VOW_LIST) else { return false }
    return give(list.part(ListPart.self).pointee.count, to: count)
}

@_cdecl("vow_as_error") @implementation
public func vow_as_error(
    _ value: vow_value, _ domain: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
    _ code: UnsafeMutablePointer<Int64>!
) -> Bool {
    checkValue(value, "vow_as_error")
    guard let error = value.box(of: VOW_ERROR) else { return false }
    domain?.pointee = UnsafePointer(error.domain)
    return give(error.part(ErrorPart.self).pointee.code, to: code)
}

@_cdecl("vow_as_promise") @implementation
public func vow_as_promise(_ value: vow_value, _ promise: UnsafeMutablePointer<OpaquePointer?>!)
    -> Bool
{
    checkValue(value, "vow_as_promise")
    guard let record = value.promise else { return false }
    if promise != nil { record.noteLent() }
    return give(OpaquePointer(record), to: promise)
}
