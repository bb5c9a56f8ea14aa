// How a Swift value travels: as a C value of its kind, as its own bits, or in an object.

public import CVow

/// The C value (owned) that a Swift value travels as.
///
/// The kind of a Swift value never decides anything: errors and promises travel in objects, so that they fulfil.
@inlinable @inline(__always)
func encode<Value>(_ value: Value) -> vow_value {
    if Value.self == Void.self { return vow_none() }
    if Value.self == Int.self { return vow_int(Int64(unsafeBitCast(value, to: Int.self))) }
    if let type = Value.self as? any CRepresentable.Type { return makeCValue(value, type) }
    if isUnboxed(Value.self), let bits = vow_value.bits(of: value) { return bits }
    return .holding(value)
}

@inlinable
func makeCValue<Value, Same: CRepresentable>(_ value: Value, _: Same.Type) -> vow_value {
    withUnsafePointer(to: value) {
        UnsafeRawPointer($0).assumingMemoryBound(to: Same.self).pointee.makeCValue()
    }
}

@inlinable
func readCValue<Value, Same: CRepresentable>(_ cValue: vow_value, _: Same.Type) -> Value? {
    guard let value = Same(cValue: cValue) else { return nil }
    // Not by a cast: that would look inside of optionals.
    return withUnsafePointer(to: value) {
        UnsafeRawPointer($0).assumingMemoryBound(to: Value.self).pointee
    }
}

/// The Swift value that a C value (borrowed) stands for; nil: it is none of this type.
@inlinable @inline(__always)
func decode<Value>(_ cValue: vow_value, as _: Value.Type = Value.self) -> Value? {
    if Value.self == Void.self { return unsafeBitCast((), to: Value.self) }
    if Value.self == Int.self, let number = cValue.number {
        return unsafeBitCast(Int(number), to: Value.self)
    }
    // What was made of this very type, which is known without looking for what that conforms to.
    if isUnboxed(Value.self), let value = cValue.bits(as: Value.self) { return value }
    if cValue.kind == VOW_OBJECT, let value = cValue.held(as: Value.self) { return value }
    return decodeByKind(cValue)
}

@inlinable
func decodeByKind<Value>(_ cValue: vow_value) -> Value? {
    if let type = Value.self as? any CRepresentable.Type { return readCValue(cValue, type) }
    return (Value.self as? any ListDecodable.Type)?.init(list: cValue) as? Value
}

/// What a combinator's list of results is read as.
@usableFromInline
protocol ListDecodable {
    init?(list: vow_value)
}

extension Array: ListDecodable {
    @inlinable
    init?(list: vow_value) {
        if list.kind != VOW_LIST { return nil }
        let count = vow_list_count(list)
        self.init()
        reserveCapacity(count)
        for index in 0..<count {
            guard let element = decode(vow_list_at(list, index), as: Element.self) else {
                return nil
            }
            append(element)
        }
    }
}

/// Trivial, and no larger than a C value's content.
@inlinable @inline(__always)
func isUnboxed<Value>(_: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Int64>.size && _isPOD(Value.self)
}
