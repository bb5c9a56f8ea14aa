// Swift values in the library's objects: the object's box holds the value itself, so that boxing takes one
// allocation.

import CVow
import VowCore

/// What a box holds: stands behind the library's own word, and the value behind that.
private protocol ContentType {
    static func destroy(_ value: UnsafeMutableRawPointer)
}

private enum Content<Value>: ContentType {
    static func destroy(_ value: UnsafeMutableRawPointer) {
        value.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
}

/// Word and type. The content begins 40 bytes behind an address aligned to 16, so the value is aligned to that.
private let valueOffset = 24

/// All of Swift's objects are of this class, which lives for ever.
nonisolated(unsafe) private let contentClass: UnsafeMutablePointer<vow_class> = {
    let name: StaticString = "Swift value"
    let cls = UnsafeMutablePointer<vow_class>.allocate(capacity: 1)
    cls.initialize(
        to: vow_class(
            size: MemoryLayout<vow_class>.size,
            name: UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            destroy: { content in
                guard let content else { return }
                let header = content + MemoryLayout<Int>.size
                header.load(as: (any ContentType.Type).self).destroy(content + valueOffset)
            }, subscribe: nil))
    return cls
}()

/// A value that asks for more room to be aligned than a box gives.
private struct Elsewhere<Value> {
    let value: [Value]
}

extension vow_value {
    /// An object (owned) that holds a Swift value. Say the type of an existential, or it holds what is inside.
    static func holding<Value>(_ value: Value, as _: Value.Type = Value.self) -> vow_value {
        if MemoryLayout<Value>.alignment > 16 { return holding(Elsewhere(value: [value])) }
        let size = valueOffset + MemoryLayout<Value>.size
        return makeObject(holding: (size + 7) & ~7, contentClass) { content in
            (content + MemoryLayout<Int>.size).storeBytes(
                of: Content<Value>.self, as: (any ContentType.Type).self)
            (content + valueOffset).initializeMemory(as: Value.self, to: value)
        }
    }

    /// The Swift value that an object (borrowed) holds, if it is of this type.
    func held<Value>(as _: Value.Type = Value.self) -> Value? {
        if MemoryLayout<Value>.alignment > 16 {
            return held(as: Elsewhere<Value>.self)?.value.first
        }
        guard let content = content(of: contentClass),
            (content + MemoryLayout<Int>.size).load(as: (any ContentType.Type).self)
                == Content<Value>.self
        else { return nil }
        return (content + valueOffset).assumingMemoryBound(to: Value.self).pointee
    }

    /// Where a Swift value stands that `holding` has made.
    func heldAddress<Value>(of _: Value.Type) -> UnsafeMutablePointer<Value>? {
        content(of: contentClass).map { ($0 + valueOffset).assumingMemoryBound(to: Value.self) }
    }
}
