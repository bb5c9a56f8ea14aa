// Which type a small value's bits are of: a number that travels with them.

public import CVow
import Synchronization

/// Gives each type a number for ever: its place in a table that only fills.
struct TypeTable: @unchecked Sendable {
    // Unchecked because of the pointer: the slots are atomic, and are never freed. An address says all there is to know,
    // so that no order between slots is needed.
    private let slots: UnsafeMutablePointer<Atomic<UInt>>
    private let capacity: Int
    /// The facts about the types in those places; 0: none yet. Found out by the first threads that ask, all the same.
    private let facts: UnsafeMutablePointer<Atomic<UInt8>>

    static let shared = TypeTable(capacity: 4096)

    /// - Parameter capacity: a power of two.
    init(capacity: Int) {
        self.capacity = capacity
        slots = .allocate(capacity: capacity)
        facts = .allocate(capacity: capacity)
        for index in 0..<capacity {
            (slots + index).initialize(to: Atomic(0))
            (facts + index).initialize(to: Atomic(0))
        }
    }

    /// From 1; nil: no place is left near the type's own.
    @inline(__always)
    func number(of type: ObjectIdentifier) -> UInt32? {
        let address = UInt(bitPattern: type)
        // Metadata is aligned to 8, and often a few words long.
        let start = Int(truncatingIfNeeded: (address >> 3) ^ (address >> 12)) & (capacity - 1)
        if slots[start].load(ordering: .relaxed) == address { return UInt32(start + 1) }
        return findNumber(of: address, from: start)
    }

    private func findNumber(of address: UInt, from start: Int) -> UInt32? {
        for step in 0..<min(capacity, 64) {
            let place = (start + step) & (capacity - 1)
            let (isMine, there) = slots[place].compareExchange(
                expected: 0, desired: address, ordering: .relaxed)
            if isMine || there == address { return UInt32(place + 1) }
        }
        return nil
    }

    /// Whether a type is `CRepresentable`: asking Swift's runtime takes ten times as long.
    @inline(__always)
    func isRepresented(_ type: Any.Type) -> Bool {
        guard let number = number(of: ObjectIdentifier(type)) else {
            return type is any CRepresentable.Type
        }
        let fact = facts[Int(number) - 1].load(ordering: .relaxed)
        return fact == 0 ? findOut(type, number) : fact == 2
    }

    private func findOut(_ type: Any.Type, _ number: UInt32) -> Bool {
        let isRepresented = type is any CRepresentable.Type
        facts[Int(number) - 1].store(isRepresented ? 2 : 1, ordering: .relaxed)
        return isRepresented
    }

    /// Whether a number that came with a value is this type's. Any number may come: C has had it.
    @inline(__always)
    func isNumber(_ number: UInt32, of type: ObjectIdentifier) -> Bool {
        number != 0 && number <= capacity
            && slots[Int(number) - 1].load(ordering: .relaxed) == UInt(bitPattern: type)
    }
}

@usableFromInline
func numberOfType(_ type: ObjectIdentifier) -> UInt32? { TypeTable.shared.number(of: type) }

@usableFromInline
func isRepresented(_ type: Any.Type) -> Bool { TypeTable.shared.isRepresented(type) }

@usableFromInline
func isNumberOfType(_ number: UInt32, _ type: ObjectIdentifier) -> Bool {
    TypeTable.shared.isNumber(number, of: type)
}

extension vow_value {
    /// The bits of a trivial Swift value of at most eight bytes, as a `VOW_INT` that knows their type; nil: the table is
    /// full.
    @inlinable
    static func bits<Value>(of value: Value) -> vow_value? {
        guard let number = numberOfType(ObjectIdentifier(Value.self)) else { return nil }
        var bits: Int64 = 0
        withUnsafeMutableBytes(of: &bits) { $0.storeBytes(of: value, as: Value.self) }
        var cValue = vow_int(bits)
        cValue.reserved = number
        return cValue
    }

    /// The Swift value that these bits are, if they are of this type.
    @inlinable
    func bits<Value>(as _: Value.Type = Value.self) -> Value? {
        if kind != VOW_INT || reserved == 0
            || !isNumberOfType(reserved, ObjectIdentifier(Value.self))
        {
            return nil
        }
        return withUnsafeBytes(of: `as`.integer) { $0.loadUnaligned(as: Value.self) }
    }

    /// The number of a `VOW_INT` that is a number, and not the bits of another type. C++ marks an enumeration's value by
    /// numbers of its own, for which no table of ours is large enough (vow/value.hpp).
    @inlinable
    var number: Int64? {
        kind == VOW_INT && (reserved == 0 || reserved & 1 << 30 != 0) ? `as`.integer : nil
    }
}
