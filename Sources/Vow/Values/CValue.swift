// A C value of any kind, as Swift sees it.

public import CVow

/// A value of the C interface, counted, for promises whose values C decides about.
///
/// ```swift
/// let answer = Promise(taking: vow_legacy_lookup(), as: CValue.self).map { $0.string ?? "" }
/// ```
public final class CValue: CRepresentable {
    /// Borrowed: lives as long as this object.
    public let rawValue: vow_value

    /// Keeps a C value (borrowed).
    public init(cValue: vow_value) { rawValue = vow_value_retain(cValue) }

    /// Keeps a C value (consumed).
    public init(taking value: vow_value) { rawValue = value }

    deinit { vow_value_release(rawValue) }

    public func makeCValue() -> vow_value { vow_value_retain(rawValue) }

    public var kind: vow_kind { rawValue.kind }
    public var bool: Bool? { Bool(cValue: rawValue) }
    public var int: Int64? { Int64(cValue: rawValue) }
    public var double: Double? { Double(cValue: rawValue) }
    public var string: String? { String(cValue: rawValue) }

    /// The items of a list; nil for other kinds.
    public var list: [CValue]? {
        if kind != VOW_LIST { return nil }
        return (0..<vow_list_count(rawValue)).map { CValue(cValue: vow_list_at(rawValue, $0)) }
    }

    /// The pointer of an object of this class, borrowed; nil for other kinds and classes.
    public func object(of cls: UnsafePointer<vow_class>) -> UnsafeMutableRawPointer? {
        vow_object_pointer(rawValue, cls)
    }
}

extension CValue: CustomStringConvertible {
    public var description: String { rawValue.text }
}

extension vow_value {
    /// A description for people.
    var text: String {
        let length = Int(vow_value_describe(self, nil, 0))
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: length + 1) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            vow_value_describe(self, start, length + 1)
            return String(cString: start)
        }
    }
}
