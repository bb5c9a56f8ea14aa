// Swift values in the library's objects: the object's box holds the value itself, so that boxing takes one
// allocation.

public import CVow
import VowCore

/// The type of a box's value, which says how it is destroyed. It comes behind the library's own word, and the value behind
/// it. A class, because a class's type is one word.
@usableFromInline
class ContentType {
    @usableFromInline
    class func destroy(_ value: UnsafeMutableRawPointer) {}
}

@usableFromInline
final class Content<Value>: ContentType {
    @inlinable
    override class func destroy(_ value: UnsafeMutableRawPointer) {
        _ = value.assumingMemoryBound(to: Value.self).move()
    }
}

/// The content is a reference to an object, which is released without a look at its type.
@usableFromInline
class ReferenceType: ContentType {
    override class func destroy(_ value: UnsafeMutableRawPointer) {
        Unmanaged<AnyObject>.fromOpaque(value.load(as: UnsafeRawPointer.self)).release()
    }
}

@usableFromInline
final class Reference<Value>: ReferenceType {}

/// Says in a box that its value is of this type.
@inlinable @inline(__always)
func contentType<Value>(of _: Value.Type) -> ContentType.Type {
    Value.self is AnyObject.Type ? Reference<Value>.self : Content<Value>.self
}

/// Word and type.
@inlinable @inline(__always)
var contentOffset: Int { 16 }

/// How much room a box's content takes. That of up to two words makes the box as large as a link, of which threads keep memory.
@inlinable @inline(__always)
func contentSize<Value>(of _: Value.Type) -> Int {
    contentOffset + max((MemoryLayout<Value>.size + 7) & ~7, 16)
}

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
                header.load(as: ContentType.Type.self).destroy(content + contentOffset)
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
    /// An object (owned) that holds a Swift value. Name the type of an existential, or the object holds the value inside.
    @inlinable
    static func holding<Value>(_ value: Value, as _: Value.Type = Value.self) -> vow_value {
        if MemoryLayout<Value>.alignment > 8 { return holding(Elsewhere(value: [value])) }
        let (object, place) = makeContent(
            contentType(of: Value.self), size: contentSize(of: Value.self))
        place?.initializeMemory(as: Value.self, to: value)
        return object
    }

    /// The Swift value that an object (borrowed) holds, if it is of this type.
    @inlinable
    func held<Value>(as _: Value.Type = Value.self) -> Value? {
        if MemoryLayout<Value>.alignment > 8 {
            return held(as: Elsewhere<Value>.self)?.value.first
        }
        guard let place = contentPlace(of: contentType(of: Value.self)) else { return nil }
        return place.assumingMemoryBound(to: Value.self).pointee
    }

    /// An object (owned) of this type of content, and where that is to be put; nil: it is the error that there is no memory.
    @usableFromInline
    static func makeContent(
        _ type: ContentType.Type, size: Int
    ) -> (vow_value, UnsafeMutableRawPointer?) {
        var place: UnsafeMutableRawPointer?
        let object = makeObject(holding: size, contentClass) { content in
            (content + MemoryLayout<Int>.size).storeBytes(of: type, as: ContentType.Type.self)
            place = content + contentOffset
        }
        return (object, place)
    }

    /// The content of an object (borrowed) that is of this type.
    @usableFromInline
    func contentPlace(of type: ContentType.Type) -> UnsafeMutableRawPointer? {
        guard let content = content(of: contentClass),
            (content + MemoryLayout<Int>.size).load(as: ContentType.Type.self) == type
        else { return nil }
        return content + contentOffset
    }

    /// The address of a Swift value that `holding` has made.
    func heldAddress<Value>(of _: Value.Type) -> UnsafeMutablePointer<Value>? {
        content(of: contentClass).map { ($0 + contentOffset).assumingMemoryBound(to: Value.self) }
    }
}
