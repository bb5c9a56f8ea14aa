// What a value stands for: the counted memory behind strings, objects, lists and errors.
//
// A box has a count, and behind it a part by its kind. Making one takes one piece of memory; where there is none, the maker
// returns nil. A late box holds what is Swift's own until C looks: then it becomes C's, once and for all. The
// library's own errors exist before they are needed, so rejecting with one allocates nothing.

import CVow
import CVowPlatform

// MARK: Boxes

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

// MARK: Late boxes

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

// MARK: Making boxes

/// Memory for a box with a part and `extra` bytes behind it; nil when there is none or the sum overflows.
private func makeBox<Part>(
    _ kind: vow_kind, _ part: Part, extra: Int, hasContent: Bool = false
) -> BoxPointer? {
    let fixed = MemoryLayout<Box>.stride + MemoryLayout<Part>.stride
    let (size, overflow) = fixed.addingReportingOverflow(extra)
    guard extra >= 0, !overflow, let memory = takeMemory(size) else { return nil }
    return initialiseBox(memory, kind, part, isImmortal: false, hasContent: hasContent)
}

private func initialiseBox<Part>(
    _ memory: UnsafeMutableRawPointer, _ kind: vow_kind, _ part: Part, isImmortal: Bool,
    hasContent: Bool = false
) -> BoxPointer {
    let box = memory.bindMemory(to: Box.self, capacity: 1)
    box.initialize(to: Box(kind, isImmortal: isImmortal, hasContent: hasContent))
    box.part(Part.self).initialize(to: part)
    return box
}

private func copyText(
    _ text: UnsafePointer<CChar>?, _ length: Int, to target: UnsafeMutablePointer<CChar>
) {
    if let text, length > 0 { memcpy(target, text, length) }
    target[length] = 0
}

func makeString(_ bytes: UnsafePointer<CChar>?, length: Int) -> vow_value? {
    guard length >= 0, length < Int.max,
        let box = makeBox(VOW_STRING, StringPart(length: length), extra: length + 1)
    else { return nil }
    copyText(bytes, length, to: box.bytes)
    return vow_value(VOW_STRING, box)
}

func makeObject(_ pointer: UnsafeMutableRawPointer?, _ cls: UnsafePointer<vow_class>) -> vow_value?
{
    let part = ObjectPart(pointer: pointer, cls: cls, lender: nil)
    guard let box = makeBox(VOW_OBJECT, part, extra: sizeOfClassCopy) else { return nil }
    #if VOW_CHECKED
        box.classCopy.initialize(to: ClassCopy(cls, name: cls.pointee.name))
    #endif
    return vow_value(VOW_OBJECT, box)
}

/// An object whose pointer leads to `size` bytes in the same piece of memory, a `BoxContent` at their beginning; the
/// maker fills the rest. The class's `destroy` must leave the memory alone.
func makeObject(holding size: Int, _ cls: UnsafePointer<vow_class>) -> vow_value? {
    let part = ObjectPart(pointer: nil, cls: cls, lender: nil)
    guard let box = makeBox(VOW_OBJECT, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    box.part(ObjectPart.self).pointee.pointer = UnsafeMutableRawPointer(box.content)
    return vow_value(VOW_OBJECT, box)
}

/// A string, list or error that is late: Swift's content, of which its class makes C's.
func makeLate(
    _ kind: vow_kind, holding size: Int, code: Int64, _ cls: UnsafePointer<LateClass>
) -> vow_value? {
    let part = LatePart(cls: cls, code: code)
    guard let box = makeBox(kind, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    return vow_value(kind, box)
}

/// Consumes the items only when it succeeds.
func makeList(_ items: UnsafePointer<vow_value>?, count: Int) -> vow_value? {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<vow_value>.stride)
    guard count >= 0, !overflow,
        let box = makeBox(VOW_LIST, ListPart(count: count), extra: bytes)
    else { return nil }
    if let items { box.items.initialize(from: items, count: count) }
    return vow_value(VOW_LIST, box)
}

/// A list of so many vow_none(), for its maker to fill before anybody else sees it; nil without
/// memory.
func makeEmptyList(count: Int) -> vow_value? {
    guard let list = makeList(nil, count: count) else { return nil }
    list.box?.items.initialize(repeating: vow_none(), count: count)
    return list
}

/// Consumes the payload only when it succeeds.
func makeError(
    domain: UnsafePointer<CChar>, code: Int64, message: UnsafePointer<CChar>?, payload: vow_value
) -> vow_value? {
    let part = ErrorPart(
        code: code, payload: payload, domainLength: strlen(domain),
        messageLength: message.map { strlen($0) } ?? 0)
    guard let box = makeBox(VOW_ERROR, part, extra: part.domainLength + part.messageLength + 2)
    else {
        return nil
    }
    fill(box, domain, message)
    return vow_value(VOW_ERROR, box)
}

/// An error in memory that is never freed.
func makeImmortalError(
    in memory: UnsafeMutableRawPointer, code: Int32, message: StaticString
) -> (value: vow_value, size: Int) {
    message.withUTF8Buffer { bytes in
        bytes.withMemoryRebound(to: CChar.self) { chars in
            let part = ErrorPart(
                code: Int64(code), payload: vow_none(), domainLength: 3, messageLength: chars.count)
            let box = initialiseBox(memory, VOW_ERROR, part, isImmortal: true)
            copyText(nil, 0, to: box.domain)
            box.domain[0] = 0x76
            box.domain[1] = 0x6f
            box.domain[2] = 0x77
            copyText(nil, 0, to: box.domain + 3)
            copyText(chars.baseAddress, chars.count, to: box.message)
            return (vow_value(VOW_ERROR, box), box.size)
        }
    }
}

private func fill(
    _ box: BoxPointer, _ domain: UnsafePointer<CChar>, _ message: UnsafePointer<CChar>?
) {
    let part = box.part(ErrorPart.self)
    copyText(domain, part.pointee.domainLength, to: box.domain)
    copyText(message, part.pointee.messageLength, to: box.message)
}

// MARK: The library's own errors

/// Each is immortal, so that a copy needs no count.
struct OwnErrors {
    @OwnError var noMemory: vow_value
    @OwnError var forked: vow_value
    @OwnError var broken: vow_value
    @OwnError var cycle: vow_value
    @OwnError var cancelled: vow_value
    @OwnError var timedOut: vow_value
    @OwnError var shutDown: vow_value
    /// Of a delay or descriptor: nothing to report.
    @OwnError var ended: vow_value
    @OwnError var closed: vow_value

    /// Of what would need the library's threads, or libdispatch's, where those are not to be had.
    var refusal: vow_value { isForkedChild ? forked : shutDown }
}

/// Keeps the box alone, which is nothing at the start: a global that a function would have to initialise is asked
/// whether it was at every use.
@propertyWrapper
struct OwnError {
    private var box: BoxPointer?

    init() { box = nil }

    var wrappedValue: vow_value {
        @inline(__always) get {
            var value = vow_pointer(box)
            value.kind = VOW_ERROR
            return value
        }
        set { box = newValue.box }
    }
}

/// Written once, before any thread has entered.
nonisolated(unsafe) var ownErrors = OwnErrors()

/// Takes memory from the front of `storage`, which it moves on.
func prepareOwnErrors(_ storage: inout UnsafeMutableRawPointer) {
    func make(_ code: Int32, _ message: StaticString) -> vow_value {
        let (value, size) = makeImmortalError(in: storage, code: code, message: message)
        storage += (size + 15) & ~15
        return value
    }
    ownErrors.noMemory = make(VOW_ENOMEM, "out of memory")
    ownErrors.forked = make(
        VOW_EFORKED, "a forked child has no threads to run this on")
    ownErrors.broken = make(
        VOW_EBROKEN, "the last resolver was released without resolving the promise")
    ownErrors.cycle = make(VOW_ECYCLE, "the promise would have to wait for itself")
    ownErrors.cancelled = make(VOW_ECANCELLED, "cancelled")
    ownErrors.timedOut = make(VOW_ETIMEDOUT, "it took too long")
    ownErrors.shutDown = make(VOW_ESHUTDOWN, "what was to run the work is gone")
    ownErrors.ended = make(VOW_ESHUTDOWN, "its loop, or the library's work, ended before")
    ownErrors.closed = make(
        VOW_EINVAL, "vow_fd_ready: the descriptor was closed while it was watched")
}

/// An error of the library's own domain with a text made for the occasion.
func makeOwnError(_ code: Int32, _ message: UnsafePointer<CChar>?, payload: vow_value) -> vow_value?
{
    var domain: (CChar, CChar, CChar, CChar) = (0x76, 0x6f, 0x77, 0)
    return withUnsafePointer(to: &domain) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 4) {
            makeError(domain: $0, code: Int64(code), message: message, payload: payload)
        }
    }
}

extension vow_value {
    /// The library's own error of being cancelled, which is nothing to report.
    var isCancellation: Bool {
        guard kind == VOW_ERROR, let box, !box.isLate else { return false }
        return box.part(ErrorPart.self).pointee.code == Int64(VOW_ECANCELLED)
            && strcmp(box.domain, "vow") == 0
    }
}
