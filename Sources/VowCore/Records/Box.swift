// The counted memory behind strings, objects, lists and errors.

import CVow

typealias BoxPointer = UnsafeMutablePointer<Box>

/// What every box begins with.
struct Box: ~Copyable {
    /// References; at least 1 while the box lives.
    let count: AtomicWord
    /// The kind of value it belongs to, so that the box can be freed knowing nothing else.
    let kind: vow_kind
    /// Never freed, never counted.
    let isImmortal: Bool
    /// Of an object: its pointer leads to content behind its part, which begins with a `BoxContent`. Of another kind: it
    /// has a `LatePart` in place of its own, and such a content behind that.
    let hasContent: Bool
    #if VOW_CHECKED
        var seal = Seal.live(.value)
    #endif

    init(_ kind: vow_kind, isImmortal: Bool = false, hasContent: Bool = false) {
        count = AtomicWord(1)
        self.kind = kind
        self.isImmortal = isImmortal
        self.hasContent = hasContent
    }
}

/// The bytes follow, with a NUL after the last.
struct StringPart {
    var length: Int
}

struct ObjectPart {
    var pointer: UnsafeMutableRawPointer?
    var cls: UnsafePointer<vow_class>?
    /// Not nil for an object lent to a handler in a checked build: the box that owns the pointer.
    var lender: BoxPointer?
}

/// What the content of an object's box begins with.
struct BoxContent {
    /// All of it, this included.
    let size: Int
}

/// The items follow.
struct ListPart {
    var count: Int
}

/// The domain and the message follow, each with a NUL after it.
struct ErrorPart {
    var code: Int64
    var payload: vow_value
    var domainLength: Int
    var messageLength: Int
    /// The place of the member that failed; -1: not the error of a combined promise.
    var index: Int64 = -1
    /// Made before somebody gave up with this error.
    var attempts: Int64 = 0
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    @inline(__always)
    func part<Part>(_: Part.Type) -> UnsafeMutablePointer<Part> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Box>.stride).assumingMemoryBound(
            to: Part.self)
    }

    /// What follows the part.
    @inline(__always)
    func tail<Part>(after _: Part.Type) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + MemoryLayout<Box>.stride + MemoryLayout<Part>.stride
    }

    /// The class of an object, to be used.
    var cls: UnsafePointer<vow_class>? {
        let cls = part(ObjectPart.self).pointee.cls
        #if VOW_CHECKED
            if let cls, !pointee.hasContent { classCopy.pointee.check(cls, of: " of an object") }
        #endif
        return cls
    }

    #if VOW_CHECKED
        /// Of an object without content, behind its part.
        var classCopy: UnsafeMutablePointer<ClassCopy> {
            tail(after: ObjectPart.self).assumingMemoryBound(to: ClassCopy.self)
        }
    #endif

    var bytes: UnsafeMutablePointer<CChar> {
        tail(after: StringPart.self).assumingMemoryBound(to: CChar.self)
    }

    var items: UnsafeMutablePointer<vow_value> {
        tail(after: ListPart.self).assumingMemoryBound(to: vow_value.self)
    }

    var domain: UnsafeMutablePointer<CChar> {
        tail(after: ErrorPart.self).assumingMemoryBound(to: CChar.self)
    }

    var message: UnsafeMutablePointer<CChar> {
        domain + part(ErrorPart.self).pointee.domainLength + 1
    }

    var content: UnsafeMutablePointer<BoxContent> {
        tail(after: ObjectPart.self).assumingMemoryBound(to: BoxContent.self)
    }

    /// How much memory the box takes.
    var size: Int {
        let start = MemoryLayout<Box>.stride
        if pointee.hasContent {
            return start + MemoryLayout<ObjectPart>.stride + content.pointee.size
        }
        switch pointee.kind {
        case VOW_STRING:
            return start + MemoryLayout<StringPart>.stride + part(StringPart.self).pointee.length
                + 1
        case VOW_OBJECT:
            return start + MemoryLayout<ObjectPart>.stride + sizeOfClassCopy
        case VOW_LIST:
            return start + MemoryLayout<ListPart>.stride
                + part(ListPart.self).pointee.count * MemoryLayout<vow_value>.stride
        case VOW_ERROR:
            let error = part(ErrorPart.self)
            return start + MemoryLayout<ErrorPart>.stride + error.pointee.domainLength
                + error.pointee.messageLength + 2
        default:
            fatal("a box of a kind that has no boxes")
        }
    }
}

extension vow_value {
    /// The box of a string, object, list or error; nil for the other kinds.
    @inline(__always)
    var box: BoxPointer? {
        switch kind {
        case VOW_STRING, VOW_OBJECT, VOW_LIST, VOW_ERROR:
            return `as`.pointer?.assumingMemoryBound(to: Box.self)
        default:
            return nil
        }
    }

    /// The same of one kind, to be read: of a late value what it becomes by that.
    func box(of wanted: vow_kind) -> BoxPointer? { kind == wanted ? readable : nil }

    /// The box, to be read.
    @inline(__always)
    var readable: BoxPointer? {
        guard let box else { return nil }
        return box.isLate ? box.make() : box
    }

    /// The promise of a promise value.
    @inline(__always)
    var promise: RecordPointer? {
        kind == VOW_PROMISE ? `as`.pointer?.assumingMemoryBound(to: Record.self) : nil
    }

    @inline(__always)
    var isError: Bool { kind == VOW_ERROR }

    init(_ kind: vow_kind, _ pointer: UnsafeMutableRawPointer) {
        self = vow_pointer(pointer)
        self.kind = kind
    }
}

extension vow_value {
    /// An object, but nothing to follow and no error.
    @inline(__always)
    var isOwnContent: Bool { kind >= VOW_STRING && kind < VOW_ERROR && !isThenable }

    var isThenable: Bool {
        guard kind == VOW_OBJECT, let box else { return false }
        return box.cls?.pointee.subscribe != nil
    }
}
