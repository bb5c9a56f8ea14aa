// Late values: strings, arrays and errors of Swift's, each in one box, which become C's when C reads them.
//
// A late value's content never changes, so any number of threads may convert it at once (LateValues.swift in the core). The box
// that was published lives as long as the late value, which frees it as its last owner. So an error that is kept grows once,
// where it is read; `vow_stats` counts that, and a thread that passes the error on shares the box. Converting is foreign code,
// perhaps a description, and runs under no lock: traces only read a value that was converted.

public import CVow
import VowCore

/// A value that is converted when C reads it.
@usableFromInline
protocol LateValue {
    /// A value (owned) of the kind that was said.
    func makeNow() -> vow_value
    /// A late copy (owned) of an error that says which member has failed, and after how many attempts.
    func copy(index: Int64, attempts: Int64) -> vow_value
}

extension LateValue {
    @usableFromInline
    func copy(index _: Int64, attempts _: Int64) -> vow_value { makeNow() }
}

/// A Swift error, which C sees as a `VOW_ERROR`.
@usableFromInline
struct LateError: LateValue {
    @usableFromInline let error: any Error
    /// The index of the failed member of a group; below 0: no member.
    @usableFromInline var index: Int64 = -1
    @usableFromInline var attempts: Int64 = 0

    @usableFromInline
    func makeNow() -> vow_value {
        let made = vow_error_wrap(
            error._domain, Int64(error._code), "\(error)", .holding(error, as: (any Error).self))
        made.number(index: index, attempts: attempts)
        return made
    }

    @usableFromInline
    func copy(index: Int64, attempts: Int64) -> vow_value {
        let copy = LateError(
            error: error, index: index >= 0 ? index : self.index,
            attempts: attempts > 0 ? attempts : self.attempts)
        return .late(VOW_ERROR, copy, code: Int64(error._code))
    }
}

/// As in Content.swift: an abstract class.
@usableFromInline
class LateType {
    @usableFromInline
    class func make(_ value: UnsafeMutableRawPointer) -> vow_value { vow_none() }
    @usableFromInline
    class func copy(_ value: UnsafeMutableRawPointer, _ index: Int64, _ attempts: Int64)
        -> vow_value
    { vow_none() }
    @usableFromInline
    class func destroy(_ value: UnsafeMutableRawPointer) {}
}

@usableFromInline
final class Late<Value: LateValue>: LateType {
    @inlinable
    override class func make(_ value: UnsafeMutableRawPointer) -> vow_value {
        value.assumingMemoryBound(to: Value.self).pointee.makeNow()
    }

    @inlinable
    override class func copy(_ value: UnsafeMutableRawPointer, _ index: Int64, _ attempts: Int64)
        -> vow_value
    {
        value.assumingMemoryBound(to: Value.self).pointee.copy(index: index, attempts: attempts)
    }

    @inlinable
    override class func destroy(_ value: UnsafeMutableRawPointer) {
        _ = value.assumingMemoryBound(to: Value.self).move()
    }
}

/// As in Content.swift: the library's word and the type come first.
private let typeOffset = MemoryLayout<Int>.size

/// Lives for ever.
nonisolated(unsafe) private let lateKind: UnsafeMutablePointer<LateKind> = {
    let kind = UnsafeMutablePointer<LateKind>.allocate(capacity: 1)
    kind.initialize(
        to: LateKind(
            make: { content in
                (content + typeOffset).load(as: LateType.Type.self)
                    .make(content + contentOffset)
            },
            copy: { content, index, attempts in
                (content + typeOffset).load(as: LateType.Type.self)
                    .copy(content + contentOffset, index, attempts)
            },
            destroy: { content in
                (content + typeOffset).load(as: LateType.Type.self)
                    .destroy(content + contentOffset)
            }))
    return kind
}()

extension vow_value {
    /// A value (owned) of a kind that C knows, which holds Swift's own until C looks.
    @inlinable
    static func late<Value: LateValue>(
        _ kind: vow_kind, _ value: Value, code: Int64 = 0
    ) -> vow_value {
        let (made, place) = makeLateContent(
            kind, Late<Value>.self, size: contentSize(of: Value.self), code: code)
        place?.initializeMemory(as: Value.self, to: value)
        return made
    }

    /// A late value (owned) of this type, and where that is to be put; nil: it is the error that there is no memory.
    @usableFromInline
    static func makeLateContent(
        _ kind: vow_kind, _ type: LateType.Type, size: Int, code: Int64
    ) -> (vow_value, UnsafeMutableRawPointer?) {
        var place: UnsafeMutableRawPointer?
        let made = makeLate(kind, holding: size, code: code, lateKind) { content in
            (content + typeOffset).storeBytes(of: type, as: LateType.Type.self)
            place = content + contentOffset
        }
        return (made, place)
    }

    /// The address of Swift's own value in a late value (borrowed) of this type.
    @usableFromInline
    func latePlace(of type: LateType.Type) -> UnsafeMutableRawPointer? {
        guard let content = lateContent,
            (content + typeOffset).load(as: LateType.Type.self) == type
        else { return nil }
        return content + contentOffset
    }

    @inlinable
    func latePlace<Value: LateValue>(ofValue _: Value.Type) -> UnsafeMutableRawPointer? {
        latePlace(of: Late<Value>.self)
    }

    /// The Swift value that a late one (borrowed) holds, if it is of this type.
    @inlinable
    func heldLate<Value: LateValue>(as _: Value.Type = Value.self) -> Value? {
        guard let place = latePlace(of: Late<Value>.self) else { return nil }
        return place.assumingMemoryBound(to: Value.self).pointee
    }
}
