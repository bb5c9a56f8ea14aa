// Swift values in the library's objects: the object's box holds the value itself, so that boxing takes one
// allocation.

public import CVow
import VowCore

/// What a box holds: stands behind the library's own word, and the value behind that.
@usableFromInline
protocol ContentType {
    static func destroy(_ value: UnsafeMutableRawPointer)
}

@usableFromInline
enum Content<Value>: ContentType {
    @inlinable
    static func destroy(_ value: UnsafeMutableRawPointer) {
        value.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
    }
}

/// Word and type. The content begins 40 bytes behind an address aligned to 16, so the value is aligned to that.
@inlinable @inline(__always)
var contentOffset: Int { 24 }

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
                header.load(as: (any ContentType.Type).self).destroy(content + contentOffset)
            }, subscribe: nil))
    return cls
}()

/// A value that asks for more room to be aligned than a box gives.
@usableFromInline
struct Elsewhere<Value> {
    @usableFromInline let value: [Value]

    @inlinable
    init(value: [Value]) { self.value = value }
}

extension vow_value {
    /// An object (owned) that holds a Swift value. Say the type of an existential, or it holds what is inside.
    @inlinable
    static func holding<Value>(_ value: Value, as _: Value.Type = Value.self) -> vow_value {
        if MemoryLayout<Value>.alignment > 16 { return holding(Elsewhere(value: [value])) }
        let size = contentOffset + MemoryLayout<Value>.size
        let (object, place) = makeContent(Content<Value>.self, size: (size + 7) & ~7)
        place?.initializeMemory(as: Value.self, to: value)
        return object
    }

    /// The Swift value that an object (borrowed) holds, if it is of this type.
    @inlinable
    func held<Value>(as _: Value.Type = Value.self) -> Value? {
        if MemoryLayout<Value>.alignment > 16 {
            return held(as: Elsewhere<Value>.self)?.value.first
        }
        guard let place = contentPlace(of: Content<Value>.self) else { return nil }
        return place.assumingMemoryBound(to: Value.self).pointee
    }

    /// An object (owned) of this type of content, and where that is to be put; nil: it is the error that there is no memory.
    @usableFromInline
    static func makeContent(
        _ type: any ContentType.Type, size: Int
    ) -> (vow_value, UnsafeMutableRawPointer?) {
        var place: UnsafeMutableRawPointer?
        let object = makeObject(holding: size, contentClass) { content in
            (content + MemoryLayout<Int>.size).storeBytes(of: type, as: (any ContentType.Type).self)
            place = content + contentOffset
        }
        return (object, place)
    }

    /// Where the content stands of an object (borrowed) that is of this type.
    @usableFromInline
    func contentPlace(of type: any ContentType.Type) -> UnsafeMutableRawPointer? {
        guard let content = content(of: contentClass),
            (content + MemoryLayout<Int>.size).load(as: (any ContentType.Type).self) == type
        else { return nil }
        return content + contentOffset
    }

    /// Where a Swift value stands that `holding` has made.
    func heldAddress<Value>(of _: Value.Type) -> UnsafeMutablePointer<Value>? {
        content(of: contentClass).map { ($0 + contentOffset).assumingMemoryBound(to: Value.self) }
    }
}
