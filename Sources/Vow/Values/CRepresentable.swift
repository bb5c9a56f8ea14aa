// Types that C sees as a value of its own kind.

public import CVow

/// A type whose values are C values of one kind, so that C programs can read and make them.
///
/// Numbers, `Bool`, `String`, ``CValue``, and arrays and optionals of these conform, and types with such raw values where
/// they say so: `enum Level: Int, CRepresentable`. Every other type travels as it is, together with which type it is, and
/// is read as no other one; C sees an object without a meaning to it, or a number with none.
public protocol CRepresentable: Sendable {
    /// The value that a C value (borrowed) represents; nil: it is of another kind or out of range.
    init?(cValue: vow_value)

    /// A C value (owned by the caller).
    func makeCValue() -> vow_value
}

extension Bool: CRepresentable {
    @inlinable
    public init?(cValue: vow_value) {
        if cValue.kind != VOW_BOOL { return nil }
        self = cValue.as.boolean
    }

    @inlinable
    public func makeCValue() -> vow_value { vow_bool(self) }
}

extension CRepresentable where Self: FixedWidthInteger {
    @inlinable
    public init?(cValue: vow_value) {
        guard let number = cValue.number, let value = Self(exactly: number) else { return nil }
        self = value
    }

    @inlinable
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
extension UInt64: CRepresentable {}
extension UInt: CRepresentable {}

// A number beyond C's range travels as bits: C sees a negative number, as it would by a cast.
extension CRepresentable where Self: FixedWidthInteger & UnsignedInteger {
    @inlinable
    public init?(cValue: vow_value) {
        if let own = cValue.bits(as: Self.self) {
            self = own
        } else if let number = cValue.number, let value = Self(exactly: number) {
            self = value
        } else {
            return nil
        }
    }

    @inlinable
    public func makeCValue() -> vow_value {
        Int64(exactly: self).map { vow_int($0) } ?? .bits(of: self) ?? .holding(self)
    }
}

/// A type with raw values, an enumeration above all, that says it conforms: C sees the raw value.
extension CRepresentable where Self: RawRepresentable, RawValue: CRepresentable {
    @inlinable
    public init?(cValue: vow_value) {
        guard let raw = RawValue(cValue: cValue) else { return nil }
        self.init(rawValue: raw)
    }

    @inlinable
    public func makeCValue() -> vow_value { rawValue.makeCValue() }
}

extension CRepresentable where Self: BinaryFloatingPoint {
    @inlinable
    public init?(cValue: vow_value) {
        if cValue.kind == VOW_DOUBLE {
            self.init(cValue.as.real)
        } else if let number = cValue.number {
            self.init(exactly: number)
        } else {
            return nil
        }
    }

    @inlinable
    public func makeCValue() -> vow_value { vow_double(Double(self)) }
}

extension Double: CRepresentable {}
extension Float: CRepresentable {}

extension String: CRepresentable {
    @inlinable
    public init?(cValue: vow_value) {
        if let own = cValue.heldLate(as: String.self) {
            self = own
            return
        }
        var length = 0
        guard cValue.kind == VOW_STRING, let bytes = vow_string_bytes(cValue, &length) else {
            return nil
        }
        self = bytes.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
    }

    /// Copied when C looks.
    @inlinable
    public func makeCValue() -> vow_value { .late(VOW_STRING, self) }
}

extension String: LateValue {
    @usableFromInline
    func makeNow() -> vow_value {
        var copy = self
        return copy.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { vow_string($0.baseAddress, $0.count) }
        }
    }
}

/// `nil` is the value without content. An optional in an optional that is there and has none itself is an object.
extension Optional: CRepresentable where Wrapped: CRepresentable {
    @inlinable
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

    @inlinable
    public func makeCValue() -> vow_value {
        guard let wrapped = self else { return vow_none() }
        let value = wrapped.makeCValue()
        return value.kind == VOW_NONE ? .holding(self) : value
    }
}

extension Array: CRepresentable where Element: CRepresentable {
    @inlinable
    public init?(cValue: vow_value) {
        if let own = cValue.heldLate(as: Self.self) {
            self = own
            return
        }
        guard cValue.kind == VOW_LIST else { return nil }
        let count = vow_list_count(cValue)
        self.init()
        reserveCapacity(count)
        for index in 0..<count {
            guard let element = Element(cValue: vow_list_at(cValue, index)) else { return nil }
            append(element)
        }
    }

    /// Converted when C looks.
    @inlinable
    public func makeCValue() -> vow_value { .late(VOW_LIST, self) }
}

extension Array: LateValue where Element: CRepresentable {
    @usableFromInline
    func makeNow() -> vow_value {
        let items = map { $0.makeCValue() }
        return vow_list(items, items.count)
    }
}
