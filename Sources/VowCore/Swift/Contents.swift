// Objects for the Swift face: the content stands in the object's own box.

import CVow

/// An object with room for `size` bytes, of which the first word is the library's own; `fill` gets their address.
/// Without memory: the error VOW_ENOMEM, and `fill` is not called.
package func makeObject(
    holding size: Int, _ cls: UnsafePointer<vow_class>, fill: (UnsafeMutableRawPointer) -> Void
) -> vow_value {
    _ = currentThread()
    guard let object = makeObject(holding: size, cls), let box = object.box else {
        return ownErrors.noMemory
    }
    fill(UnsafeMutableRawPointer(box.content))
    return object
}

extension vow_value {
    /// Of an object made as above, of this class: where its content is.
    package func content(of cls: UnsafePointer<vow_class>) -> UnsafeMutableRawPointer? {
        if kind != VOW_OBJECT { return nil }
        guard let box, box.part(ObjectPart.self).pointee.cls == cls else { return nil }
        return box.part(ObjectPart.self).pointee.pointer
    }
}
