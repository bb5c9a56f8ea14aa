// Chapter 1 of vow.h, continued: readers that say whether a value is of their kind.

import CVow

/// What is not wanted has no place; what is not there leaves its place alone.
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
