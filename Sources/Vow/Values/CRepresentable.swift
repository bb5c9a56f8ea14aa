// Types that C sees as a value of its own kind.

public import CVow

/// A type whose values are C values of one kind, so that C programs can read and make them.
///
/// Numbers, `Bool`, `String`, pointers, ``CValue``, and arrays and optionals of these conform. Every other type travels
/// as it is, and C sees an object without a meaning to it.
public protocol CRepresentable: Sendable {
    /// The value that a C value (borrowed) stands for; nil: it is of another kind or out of range.
    init?(cValue: vow_value)

    /// A C value (owned by the caller).
    func makeCValue() -> vow_value
}

extension Bool: CRepresentable {
    public init?(cValue: vow_value) {
        if cValue.kind != VOW_BOOL { return nil }
        self = cValue.as.boolean
    }

    public func makeCValue() -> vow_value { vow_bool(self) }
}

extension CRepresentable where Self: FixedWidthInteger {
    public init?(cValue: vow_value) {
        guard cValue.kind == VOW_INT, let value = Self(exactly: cValue.as.integer) else {
            return nil
        }
        self = value
    }

    public func makeCValue() -> vow_value { vow_int(Int64(self)) }
}

extension Int: CRepresentable {}
extension Int8: CRepresentable {}
extension Int16: CRepresentable {}
extension Int32: CRepresentable {}
extension Int64: CRepresentable {}
extension UInt8: CRepresentable {}
extension UInt16: CRepresentable {}
extension UInt32: CRepresentable {}

extension CRepresentable where Self: BinaryFloatingPoint {
    public init?(cValue: vow_value) {
        switch cValue.kind {
        case VOW_DOUBLE: self.init(cValue.as.real)
        case VOW_INT: self.init(exactly: cValue.as.integer)
        default: return nil
        }
    }

    public func makeCValue() -> vow_value { vow_double(Double(self)) }
}

extension Double: CRepresentable {}
extension Float: CRepresentable {}

extension String: CRepresentable {
    public init?(cValue: vow_value) {
        var length = 0
        guard cValue.kind == VOW_STRING, let bytes = vow_string_bytes(cValue, &length) else {
            return nil
        }
        self = bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    public func makeCValue() -> vow_value {
        var copy = self
        return copy.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { vow_string($0.baseAddress, $0.count) }
        }
    }
}

/// `nil` is the value without content. An optional in an optional that is there and has none itself is an object.
extension Optional: CRepresentable where Wrapped: CRepresentable {
    public init?(cValue: vow_value) {
        if cValue.kind == VOW_NONE {
            self = .none
        } else if let held = cValue.held(as: Wrapped?.self) {
            self = held
        } else if let wrapped = Wrapped(cValue: cValue) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }

    public func makeCValue() -> vow_value {
        guard let wrapped = self else { return vow_none() }
        let value = wrapped.makeCValue()
        return value.kind == VOW_NONE ? .holding(self) : value
    }
}

extension Array: CRepresentable where Element: CRepresentable {
    public init?(cValue: vow_value) {
        guard cValue.kind == VOW_LIST else { return nil }
        let count = vow_list_count(cValue)
        self.init()
        reserveCapacity(count)
        for index in 0..<count {
            guard let element = Element(cValue: vow_list_at(cValue, index)) else { return nil }
            append(element)
        }
    }

    public func makeCValue() -> vow_value {
        let items = map { $0.makeCValue() }
        return vow_list(items, items.count)
    }
}
