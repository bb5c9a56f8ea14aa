// Strings, arrays and errors of Swift's that C finds to be its own when it looks, and that cost one box until then.

import CVow
import VowCore

/// What can be converted when C looks.
protocol LateValue {
    /// A value (owned) of the kind that was said.
    func makeNow() -> vow_value
}

/// A Swift error, which C sees as a `VOW_ERROR`.
struct LateError: LateValue {
    let error: any Error

    func makeNow() -> vow_value {
        vow_error_wrap(
            error._domain, Int64(error._code), "\(error)", .holding(error, as: (any Error).self))
    }
}

private protocol LateType {
    static func make(_ value: UnsafeMutableRawPointer) -> vow_value
    static func destroy(_ value: UnsafeMutableRawPointer)
}

private enum Late<Value: LateValue>: LateType {
    static func make(_ value: UnsafeMutableRawPointer) -> vow_value {
        value.assumingMemoryBound(to: Value.self).pointee.makeNow()
    }

    static func destroy(_ value: UnsafeMutableRawPointer) {
        value.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
}

/// As in Content.swift: the library's word and the type come first.
private let typeOffset = MemoryLayout<Int>.size
private let valueOffset = 24

/// Lives for ever.
nonisolated(unsafe) private let lateKind: UnsafeMutablePointer<LateKind> = {
    let kind = UnsafeMutablePointer<LateKind>.allocate(capacity: 1)
    kind.initialize(
        to: LateKind(
            make: { content in
                (content + typeOffset).load(as: (any LateType.Type).self)
                    .make(content + valueOffset)
            },
            destroy: { content in
                (content + typeOffset).load(as: (any LateType.Type).self)
                    .destroy(content + valueOffset)
            }))
    return kind
}()

extension vow_value {
    /// A value (owned) of a kind that C knows, which holds Swift's own until C looks.
    static func late<Value: LateValue>(
        _ kind: vow_kind, _ value: Value, code: Int64 = 0
    ) -> vow_value {
        let size = valueOffset + MemoryLayout<Value>.size
        return makeLate(kind, holding: (size + 7) & ~7, code: code, lateKind) { content in
            (content + typeOffset).storeBytes(of: Late<Value>.self, as: (any LateType.Type).self)
            (content + valueOffset).initializeMemory(as: Value.self, to: value)
        }
    }

    /// The Swift value that a late one (borrowed) holds, if it is of this type.
    func heldLate<Value: LateValue>(as _: Value.Type = Value.self) -> Value? {
        guard let content = lateContent,
            (content + typeOffset).load(as: (any LateType.Type).self) == Late<Value>.self
        else { return nil }
        return (content + valueOffset).assumingMemoryBound(to: Value.self).pointee
    }
}
