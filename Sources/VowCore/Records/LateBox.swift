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

/// What can be done with a late box, by those above this floor.
struct LateClass {
    /// Makes what the box becomes, if nobody has: its box, which it owns. Nil without memory.
    let become: @convention(c) (_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
    /// Of an error's content: a late copy (owned) that says which member failed, unless below 0, and after how many attempts,
    /// unless 0. Runs nothing of the program's.
    let copy: @convention(c) (UnsafeMutableRawPointer, Int64, Int64) -> vow_value
    /// Of its content.
    let destroy: @convention(c) (_ content: UnsafeMutableRawPointer) -> Void
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    /// Whether it has a `LatePart`.
    @inline(__always)
    var isLate: Bool { pointee.hasContent && pointee.kind != VOW_OBJECT }

    /// The box that a late one has become; 0: none yet. Published with what is in it.
    var made: UnsafeMutablePointer<AtomicWord> {
        UnsafeMutableRawPointer(part(LatePart.self)).assumingMemoryBound(to: AtomicWord.self)
    }

    /// What a late box has become, if somebody has looked.
    var alreadyMade: BoxPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(made.pointee.loadAcquire()))?
            .assumingMemoryBound(to: Box.self)
    }

    /// What a late box becomes. Runs foreign code the first time. Nil without memory.
    func make() -> BoxPointer? {
        if let made = alreadyMade { return made }
        let box = part(LatePart.self).pointee.cls.pointee.become(UnsafeMutableRawPointer(self))
        return box?.assumingMemoryBound(to: Box.self)
    }

    /// Of an error, without making it.
    var errorCode: Int64 {
        isLate ? part(LatePart.self).pointee.code : part(ErrorPart.self).pointee.code
    }
}
