// The counted memory behind strings, objects, lists and errors. A box has a count, and behind it a part by its kind, in one
// piece of memory; a maker returns nil without memory. A late box holds Swift's own content until a reader converts it to C's,
// once. Rejecting with a library error allocates nothing.

import CVow
import CVowPlatform

// MARK: Boxes

typealias BoxPointer = UnsafeMutablePointer<Box>

struct Box: ~Copyable {
    /// References; at least 1.
    let count: AtomicWord
    /// The kind of value, so that the box can be freed by itself.
    let kind: vow_kind
    /// Never freed and never counted.
    let isImmortal: Bool
    /// An object's pointer leads to content behind its part, which begins with a `BoxContent`. A box of another kind is late: a
    /// `LatePart` has the place of its part, with such content behind.
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

/// The bytes follow, and a NUL.
struct StringPart {
    var length: Int
}

struct ObjectPart {
    var pointer: UnsafeMutableRawPointer?
    var cls: UnsafePointer<vow_class>?
    /// The box that owns the pointer of an object lent to a handler in a checked build.
    var lender: BoxPointer?
}

/// The beginning of an object's content.
struct BoxContent {
    /// All of the content, this included.
    let size: Int
}

/// The items follow.
struct ListPart {
    var count: Int
}

/// The domain and the message follow, each with a NUL.
struct ErrorPart {
    var code: Int64
    var payload: vow_value
    var domainLength: Int
    var messageLength: Int
    /// The place of the member that failed; -1: no combined promise.
    var index: Int64 = -1
    /// The attempts made before the caller gave up with this error.
    var attempts: Int64 = 0
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    @inline(__always)
    func part<Part>(_: Part.Type) -> UnsafeMutablePointer<Part> {
        (UnsafeMutableRawPointer(self) + MemoryLayout<Box>.stride).assumingMemoryBound(
            to: Part.self)
    }

    @inline(__always)
    func tail<Part>(after _: Part.Type) -> UnsafeMutableRawPointer {
        UnsafeMutableRawPointer(self) + MemoryLayout<Box>.stride + MemoryLayout<Part>.stride
    }

    /// Checks, in a checked build, that the class is still there.
    var cls: UnsafePointer<vow_class>? {
        let cls = part(ObjectPart.self).pointee.cls
        #if VOW_CHECKED
            if let cls, !pointee.hasContent { classCopy.pointee.check(cls, of: " of an object") }
        #endif
        return cls
    }

    #if VOW_CHECKED
        /// For an object without content, behind its part.
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
    /// The box of a string, object, list or error; nil for other kinds.
    @inline(__always)
    var box: BoxPointer? {
        switch kind {
        case VOW_STRING, VOW_OBJECT, VOW_LIST, VOW_ERROR:
            return `as`.pointer?.assumingMemoryBound(to: Box.self)
        default:
            return nil
        }
    }

    /// The readable box of a value of that kind.
    func box(of wanted: vow_kind) -> BoxPointer? { kind == wanted ? readable : nil }

    /// The box, in C's form if it is late.
    @inline(__always)
    var readable: BoxPointer? {
        guard let box else { return nil }
        return box.isLate ? box.make() : box
    }

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
    /// An object that is not followed and is no error.
    @inline(__always)
    var isOwnContent: Bool { kind >= VOW_STRING && kind < VOW_ERROR && !isThenable }

    var isThenable: Bool {
        guard kind == VOW_OBJECT, let box else { return false }
        return box.cls?.pointee.subscribe != nil
    }
}

// MARK: Late boxes

/// The part of a late box. It has the size of an object's part, so that the content begins at the same place.
struct LatePart {
    /// The converted box (owned); 0: no reader yet. An atomic word: see `made`.
    private var madeWord: UInt64 = 0
    let cls: UnsafePointer<LateClass>
    /// The code of an error, known without converting.
    let code: Int64

    init(cls: UnsafePointer<LateClass>, code: Int64) {
        self.cls = cls
        self.code = code
    }
}

/// The operations on a late box, from floors above.
struct LateClass {
    /// Converts the box, if that is not done, and returns the result, which the box owns. Nil without memory.
    let become: @convention(c) (_ box: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?
    /// A late copy (owned) of an error with the failed member, unless below 0, and the attempts, unless 0. Nothing foreign.
    let copy: @convention(c) (UnsafeMutableRawPointer, Int64, Int64) -> vow_value
    /// Destroys the content.
    let destroy: @convention(c) (_ content: UnsafeMutableRawPointer) -> Void
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Box {
    @inline(__always)
    var isLate: Bool { pointee.hasContent && pointee.kind != VOW_OBJECT }

    /// The converted box; 0: none yet. Published with its content.
    var made: UnsafeMutablePointer<AtomicWord> {
        UnsafeMutableRawPointer(part(LatePart.self)).assumingMemoryBound(to: AtomicWord.self)
    }

    var alreadyMade: BoxPointer? {
        UnsafeMutableRawPointer(bitPattern: UInt(made.pointee.loadAcquire()))?
            .assumingMemoryBound(to: Box.self)
    }

    /// Converts a late box. Runs foreign code the first time. Nil without memory.
    func make() -> BoxPointer? {
        if let made = alreadyMade { return made }
        let box = part(LatePart.self).pointee.cls.pointee.become(UnsafeMutableRawPointer(self))
        return box?.assumingMemoryBound(to: Box.self)
    }

    /// For an error, without converting it.
    var errorCode: Int64 {
        isLate ? part(LatePart.self).pointee.code : part(ErrorPart.self).pointee.code
    }
}

// MARK: Making boxes

/// A box with a part and `extra` bytes behind it; nil without memory, or if the sum overflows.
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

/// An object whose pointer leads to `size` bytes in the same piece of memory, with a `BoxContent` first; the maker fills the
/// rest. The class's `destroy` must leave the memory alone.
func makeObject(holding size: Int, _ cls: UnsafePointer<vow_class>) -> vow_value? {
    let part = ObjectPart(pointer: nil, cls: cls, lender: nil)
    guard let box = makeBox(VOW_OBJECT, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    box.part(ObjectPart.self).pointee.pointer = UnsafeMutableRawPointer(box.content)
    return vow_value(VOW_OBJECT, box)
}

/// A late string, list or error: Swift's content, which its class converts.
func makeLate(
    _ kind: vow_kind, holding size: Int, code: Int64, _ cls: UnsafePointer<LateClass>
) -> vow_value? {
    let part = LatePart(cls: cls, code: code)
    guard let box = makeBox(kind, part, extra: size, hasContent: true) else { return nil }
    box.content.initialize(to: BoxContent(size: size))
    return vow_value(kind, box)
}

/// Consumes the items only on success.
func makeList(_ items: UnsafePointer<vow_value>?, count: Int) -> vow_value? {
    let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<vow_value>.stride)
    guard count >= 0, !overflow,
        let box = makeBox(VOW_LIST, ListPart(count: count), extra: bytes)
    else { return nil }
    if let items { box.items.initialize(from: items, count: count) }
    return vow_value(VOW_LIST, box)
}

/// A list of `count` vow_none(), for its maker to fill before any other thread sees it; nil without memory.
func makeEmptyList(count: Int) -> vow_value? {
    guard let list = makeList(nil, count: count) else { return nil }
    list.box?.items.initialize(repeating: vow_none(), count: count)
    return list
}

/// Consumes the payload only on success.
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
    /// Rejects a delay or descriptor, and is never reported.
    @OwnError var ended: vow_value
    @OwnError var closed: vow_value

    /// Rejects work that needs threads of the library or of libdispatch when they are gone.
    var refusal: vow_value { isForkedChild ? forked : shutDown }
}

/// The box begins as nil: a global with an initialising function would be asked for that at every use.
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

/// Takes memory from the front of `storage` and advances `storage`.
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

/// An error in the library's domain with a text made for the occasion.
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
    /// The library's own error of being cancelled, which is never reported.
    var isCancellation: Bool {
        guard kind == VOW_ERROR, let box, !box.isLate else { return false }
        return box.part(ErrorPart.self).pointee.code == Int64(VOW_ECANCELLED)
            && strcmp(box.domain, "vow") == 0
    }
}
