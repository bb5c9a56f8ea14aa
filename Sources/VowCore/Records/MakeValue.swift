// Making strings, objects, lists and errors. Each takes one piece of memory; nil when there is none.

import CVow
import CVowPlatform

/// Memory for a box with a part and `extra` bytes behind it; nil when there is none or the sum overflows.
private func makeBox<Part>(
    _ kind: vow_kind, _ part: Part, extra: Int, hasContent: Bool = false
) -> BoxPointer? {
    let fixed = MemoryLayout<Box>.stride + MemoryLayout<Part>.stride
    let (size, overflow) = fixed.addingReportingOverflow(extra)
    guard extra >= 0, !overflow, let memory = takeMemory(size) else { return nil }
    return initialiseBox(memory, kind, part, isImmortal: false, hasContent: hasContent)
}

private func initialiseBox<Part>(
    _ memory: UnsafeMutableRawPointer, _ kind: vow_kind, _ part: Part, isImmortal: Bool,
    hasContent: Bool = false
) -> BoxPointer {
    let box = memory.bindMemory(to: Box.self, capacity: 1)
    box.initialize(to: Box(kind, isImmortal: isImmortal, hasContent: hasContent))
    box.part(Part.self).initialize(to: part)
    return box
}

private func copyText(
    _ text: UnsafePointer<CChar>?, _ length: Int, to target: UnsafeMutablePointer<CChar>
) {
    if let text, length > 0 { memcpy(target, text, length) }
    target[length] = 0
}

func makeString(_ bytes: UnsafePointer<CChar>?, length: Int) -> vow_value? {
    guard length >= 0, length < Int.max,
        let box = makeBox(VOW_STRING, StringPart(length: length), extra: length + 1)
    else { return nil }
    copyText(bytes, length, to: box.bytes)
    return vow_value(VOW_STRING, box)
}

func makeObject(_ pointer: UnsafeMutableRawPointer?, _ cls: UnsafePointer<vow_class>) -> vow_value?
{
    let part = ObjectPart(pointer: pointer, cls: cls, lender: nil)
    guard let box = makeBox(VOW_OBJECT, part, extra: sizeOfClassCopy) else { return nil }
    #if VOW_CHECKED
        box.classCopy.initialize(to: ClassCopy(cls, name: cls.pointee.name))
    #endif
    return vow_value(VOW_OBJECT, box)
}

/// An object whose pointer leads to `size` bytes in the same piece of memory, a `BoxContent` at their beginning; the
/// maker fills the rest. The class's `destroy` must leave the memory alone.
func makeObject(holding size: Int, _ cls: UnsafePointer<vow_class>) -> vow_value? {
    let part = ObjectPart(pointer: nil, cls: cls, lender: nil)
    guard let box = makeBox(VOW_OBJECT, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    box.part(ObjectPart.self).pointee.pointer = UnsafeMutableRawPointer(box.content)
    return vow_value(VOW_OBJECT, box)
}

/// A string, list or error that is late: Swift's content, of which its class makes C's.
func makeLate(
    _ kind: vow_kind, holding size: Int, code: Int64, _ cls: UnsafePointer<LateClass>
) -> vow_value? {
    let part = LatePart(cls: cls, code: code)
    guard let box = makeBox(kind, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    return vow_value(kind, box)
}

/// Consumes the items only when it succeeds.
func makeList(_ items: UnsafePointer<vow_value>?, count: Int) -> vow_value? {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<vow_value>.stride)
    guard count >= 0, !overflow,
        let box = makeBox(VOW_LIST, ListPart(count: count), extra: bytes)
    else { return nil }
    if let items { box.items.initialize(from: items, count: count) }
    return vow_value(VOW_LIST, box)
}

/// A list of so many vow_none(), for its maker to fill before anybody else sees it; nil without
/// memory.
func makeEmptyList(count: Int) -> vow_value? {
    guard let list = makeList(nil, count: count) else { return nil }
    list.box?.items.initialize(repeating: vow_none(), count: count)
    return list
}

/// Consumes the payload only when it succeeds.
func makeError(
    domain: UnsafePointer<CChar>, code: Int64, message: UnsafePointer<CChar>?, payload: vow_value
) -> vow_value? {
    let part = ErrorPart(
        code: code, payload: payload, domainLength: strlen(domain),
        messageLength: message.map { strlen($0) } ?? 0)
    guard let box = makeBox(VOW_ERROR, part, extra: part.domainLength + part.messageLength + 2)
    else {
        return nil
    }
    fill(box, domain, message)
    return vow_value(VOW_ERROR, box)
}

/// An error in memory that is never freed.
func makeImmortalError(
    in memory: UnsafeMutableRawPointer, code: Int32, message: StaticString
) -> (value: vow_value, size: Int) {
    message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { chars in
            let part = ErrorPart(
                code: Int64(code), payload: vow_none(), domainLength: 3, messageLength: chars.count)
            let box = initialiseBox(memory, VOW_ERROR, part, isImmortal: true)
            copyText(nil, 0, to: box.domain)
            box.domain[0] = 0x76
            box.domain[1] = 0x6f
            box.domain[2] = 0x77
            copyText(nil, 0, to: box.domain + 3)
            copyText(chars.baseAddress, chars.count, to: box.message)
            return (vow_value(VOW_ERROR, box), box.size)
        }
    }
}

private func fill(
    _ box: BoxPointer, _ domain: UnsafePointer<CChar>, _ message: UnsafePointer<CChar>?
) {
    let part = box.part(ErrorPart.self)
    copyText(domain, part.pointee.domainLength, to: box.domain)
    copyText(message, part.pointee.messageLength, to: box.message)
}
