// How a Swift value travels: as a C value of its kind, as its own bits, or in an object.

public import CVow

/// The C value (owned) that a Swift value travels as.
///
/// The kind of a Swift value never decides anything: errors and promises travel in objects, so that they fulfil.
@inlinable @inline(__always)
func encode<Value>(_ value: Value) -> vow_value {
    if Value.self == Void.self { return vow_none() }
    if Value.self == Int.self { return vow_int(Int64(unsafeBitCast(value, to: Int.self))) }
    if isOftenRepresented(Value.self) || isRepresented(Value.self),
        let type = Value.self as? any CRepresentable.Type
    {
        return makeCValue(value, type)
    }
    if isUnboxed(Value.self), let bits = vow_value.bits(of: value) { return bits }
    return .holding(value)
}

/// The same for the result of a handler that has read a value (`input`, borrowed). An input that is returned shares the
/// box.
@inlinable @inline(__always)
func encode<Value>(_ value: Value, like input: vow_value) -> vow_value {
    if input.kind >= VOW_STRING && input.kind < VOW_ERROR && input.holds(theSameAs: value) {
        return vow_value_retain(input)
    }
    return encode(value)
}

extension vow_value {
    /// Whether a value was made of these very bits: then it is made of the same references, too, and of nothing else.
    @inlinable
    func holds<Value>(theSameAs value: Value) -> Bool {
        if MemoryLayout<Value>.alignment > 8 { return false }
        let place: UnsafeMutableRawPointer?
        if kind == VOW_OBJECT {
            place = contentPlace(of: contentType(of: Value.self))
        } else if let type = Value.self as? any LateValue.Type {
            place = latePlace(ofValue: type)
        } else {
            return false
        }
        guard let place else { return false }
        return withUnsafeBytes(of: value) { areSame($0, place) }
    }
}

/// By words, which for most types is one comparison or two.
@inlinable @inline(__always)
func areSame(_ bytes: UnsafeRawBufferPointer, _ other: UnsafeRawPointer) -> Bool {
    var offset = 0
    while offset + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        if word != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
        offset += 8
    }
    while offset < bytes.count {
        if bytes[offset] != other.load(fromByteOffset: offset, as: UInt8.self) { return false }
        offset += 1
    }
    return true
}

/// Where the type is known, the compiler knows the answer, too.
@inlinable @inline(__always)
func isOftenRepresented<Value>(_: Value.Type) -> Bool {
    Value.self == String.self || Value.self == Double.self || Value.self == Bool.self
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

/// The Swift value that a C value (borrowed) represents; nil: it is of another type.
@inlinable @inline(__always)
func decode<Value>(_ cValue: vow_value, as _: Value.Type = Value.self) -> Value? {
    if Value.self == Void.self { return unsafeBitCast((), to: Value.self) }
    if Value.self == Int.self, let number = cValue.number {
        return unsafeBitCast(Int(number), to: Value.self)
    }
    // A value made of this very type is known without a look at its conformances.
    if isUnboxed(Value.self), let value = cValue.bits(as: Value.self) { return value }
    if cValue.kind == VOW_OBJECT, let value = cValue.held(as: Value.self) { return value }
    return decodeByKind(cValue)
}

@inlinable
func decodeByKind<Value>(_ cValue: vow_value) -> Value? {
    if let type = Value.self as? any CRepresentable.Type { return readCValue(cValue, type) }
    return (Value.self as? any ListDecodable.Type)?.init(list: cValue) as? Value
}

/// The type of a combinator's list of results.
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
