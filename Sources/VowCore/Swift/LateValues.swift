// Values for the Swift face: late ones, strings, lists and errors that hold Swift's own until C looks; and objects whose
// content stands in their own box.

import CVow

/// How Swift's content becomes a value of C's (owned), and how it is freed. Lives for ever, where it is.
package struct LateKind {
    // Comes first: boxes know it by that.
    private let cls: LateClass
    fileprivate let make: @convention(c) (UnsafeMutableRawPointer) -> vow_value

    package init(
        make: @escaping @convention(c) (UnsafeMutableRawPointer) -> vow_value,
        copy: @escaping @convention(c) (UnsafeMutableRawPointer, Int64, Int64) -> vow_value,
        destroy: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
    ) {
        cls = LateClass(become: become, copy: copy, destroy: destroy)
        self.make = make
    }
}

/// A late value (owned) with room for `size` bytes, of which the first word is the library's own; `fill` gets their
/// address. `code` is that of an error. Without memory: the error VOW_ENOMEM, and `fill` is not called.
package func makeLate(
    _ kind: vow_kind, holding size: Int, code: Int64, _ late: UnsafePointer<LateKind>,
    fill: (UnsafeMutableRawPointer) -> Void
) -> vow_value {
    _ = currentThread()
    let cls = UnsafeRawPointer(late).assumingMemoryBound(to: LateClass.self)
    guard let value = makeLate(kind, holding: size, code: code, cls), let box = value.box else {
        return ownErrors.noMemory
    }
    fill(UnsafeMutableRawPointer(box.content))
    return value
}

extension vow_value {
    /// Of a late value: where its content is.
    package var lateContent: UnsafeMutableRawPointer? {
        guard let box, box.isLate else { return nil }
        return UnsafeMutableRawPointer(box.content)
    }

    /// Has an error that nobody else has seen yet say which member has failed, and after how many attempts.
    package func number(index: Int64, attempts: Int64) {
        guard let box, kind == VOW_ERROR, !box.pointee.isImmortal else { return }
        box.part(ErrorPart.self).pointee.index = index
        box.part(ErrorPart.self).pointee.attempts = attempts
    }
}

/// Several threads may be at it: the first to be ready publishes its box, with what is in it, and the others let go of
/// theirs.
private func become(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let box = address.assumingMemoryBound(to: Box.self)
    let thread = currentThread()
    let late = UnsafeRawPointer(box.part(LatePart.self).pointee.cls)
        .assumingMemoryBound(to: LateKind.self)
    let value = runForeign(thread) { late.pointee.make(UnsafeMutableRawPointer(box.content)) }
    // Of another kind it is the error that there was no memory.
    guard value.kind == box.pointee.kind, let made = value.box else {
        value.release(thread)
        return nil
    }
    let mine = UInt64(UInt(bitPattern: UnsafeMutableRawPointer(made)))
    let (isMine, theirs) = box.made.pointee.replaceAcquireRelease(0, mine)
    if isMine { return UnsafeMutableRawPointer(made) }
    value.release(thread)
    return UnsafeMutableRawPointer(bitPattern: UInt(theirs))
}

// MARK: Objects

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
