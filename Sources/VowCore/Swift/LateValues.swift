// Values for the Swift face. A late value is a string, list or error that holds Swift's content until C reads it. An object has
// its content in its own box.

import CVow

/// Turns Swift's content into a value of C's (owned), and frees it. A kind lives for ever at one address.
package struct LateKind {
    // The first field: a box has its address.
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

/// Makes a late value (owned) with room for `size` bytes, the first word of which is the library's; `fill` gets their address.
/// `code` is an error's code. Without memory the function returns the error VOW_ENOMEM and does not call `fill`.
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
    /// The address of a late value's content; nil for another value.
    package var lateContent: UnsafeMutableRawPointer? {
        guard let box, box.isLate else { return nil }
        return UnsafeMutableRawPointer(box.content)
    }

    /// Writes the failed member's index and the number of attempts into an error that no other thread has seen.
    package func number(index: Int64, attempts: Int64) {
        guard let box, kind == VOW_ERROR, !box.pointee.isImmortal else { return }
        box.part(ErrorPart.self).pointee.index = index
        box.part(ErrorPart.self).pointee.attempts = attempts
    }
}

/// Converts a late value. Several threads may convert at once; the first to be ready publishes its box by an exchange from 0,
/// which releases the content to threads that acquire the word. The others free their boxes.
private func become(_ address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let box = address.assumingMemoryBound(to: Box.self)
    let thread = currentThread()
    let late = UnsafeRawPointer(box.part(LatePart.self).pointee.cls)
        .assumingMemoryBound(to: LateKind.self)
    let value = runForeign(thread) { late.pointee.make(UnsafeMutableRawPointer(box.content)) }
    // A value of another kind is the error VOW_ENOMEM.
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

/// Makes an object with room for `size` bytes, the first word of which is the library's; `fill` gets their address. Without
/// memory the function returns the error VOW_ENOMEM and does not call `fill`.
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
    /// The address of the content of an object that `makeObject` made with this class; nil for another value.
    package func content(of cls: UnsafePointer<vow_class>) -> UnsafeMutableRawPointer? {
        if kind != VOW_OBJECT { return nil }
        guard let box, box.part(ObjectPart.self).pointee.cls == cls else { return nil }
        return box.part(ObjectPart.self).pointee.pointer
    }
}
