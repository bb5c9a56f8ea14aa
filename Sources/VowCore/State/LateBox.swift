// Strings, lists and errors that are Swift's own until somebody looks: then they become C's, once and for all.

import CVow

/// What stands in a late box in place of its kind's part, as large as that of an object, so that what Swift holds begins
/// at the same place.
struct LatePart {
    /// The box (owned) that it has become; 0: nobody has looked. An atomic word, see `made`.
    private var madeWord: UInt64 = 0
    let cls: UnsafePointer<LateClass>
    /// Of an error: known without looking.
    let code: Int64

    init(cls: UnsafePointer<LateClass>, code: Int64) {
        self.cls = cls
        self.code = code
    }
}

/// How Swift's content becomes a value of C's (owned), and how it is freed.
package struct LateClass {
    let make: @convention(c) (UnsafeMutableRawPointer) -> vow_value
    let destroy: @convention(c) (UnsafeMutableRawPointer) -> Void

    package init(
        make: @escaping @convention(c) (UnsafeMutableRawPointer) -> vow_value,
        destroy: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void
    ) {
        self.make = make
        self.destroy = destroy
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    /// Whether it has a `LatePart`.
    @inline(__always)
    var isLate: Bool { pointee.hasContent && pointee.kind != VOW_OBJECT }

    private var madeWord: UnsafeMutablePointer<AtomicWord> {
        UnsafeMutableRawPointer(part(LatePart.self)).assumingMemoryBound(to: AtomicWord.self)
    }

    /// What a late box has become, if somebody has looked.
    var alreadyMade: BoxPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(madeWord.pointee.loadAcquire()))?
            .assumingMemoryBound(to: Box.self)
    }

    /// What a late box becomes. Runs foreign code the first time. Several threads may be at it: the first to be ready
    /// publishes its box, with what is in it, and the others let go of theirs. Nil without memory.
    func make() -> BoxPointer? {
        if let made = alreadyMade { return made }
        let thread = currentThread()
        let value = runForeign(thread) {
            part(LatePart.self).pointee.cls.pointee.make(UnsafeMutableRawPointer(content))
        }
        guard value.kind == pointee.kind, let box = value.box else {
            value.release(thread)
            return nil
        }
        let mine = UInt64(UInt(bitPattern: UnsafeMutableRawPointer(box)))
        if madeWord.pointee.replaceAcquireRelease(0, mine).exchanged { return box }
        value.release(thread)
        return alreadyMade
    }

    /// Of an error, without making it.
    var errorCode: Int64 {
        isLate ? part(LatePart.self).pointee.code : part(ErrorPart.self).pointee.code
    }
}
