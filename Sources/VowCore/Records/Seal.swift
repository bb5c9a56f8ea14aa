// Checks of handles in a checked build.
//
// Every object carries a seal, so that a released handle is recognised, and a handle of another type or of another copy of the
// library. A resolver handle is a promise's record, and a token is a source's, with other rights: these handles are marked, so
// that one used for the other is recognised. A promise counts the program's handles, because a reaction keeps its memory:
// without the count, a handle that was given away would go on working.

import CVowPlatform

// MARK: Seals

#if VOW_CHECKED
    enum Sealed: UInt64, CaseIterable {
        case promise, executor, source, value, loop, scope, registration, box
    }

    enum Seal {
        static let liveMark: UInt64 = 0x766f_775f_6c69_7665
        private static let freedMark: UInt64 = 0x766f_775f_6672_6565
        /// No address has these bits; they say which type is sealed.
        static let kindShift: UInt64 = 56

        @inline(__always)
        static func live(_ kind: Sealed) -> UInt64 {
            liveMark ^ vow_platform_copy() ^ kind.rawValue << kindShift
        }
        static var freed: UInt64 { freedMark ^ vow_platform_copy() }
    }

    /// A copy of a class of the program: its first four words, which are all of a `vow_class`, and the beginning of its name.
    struct ClassCopy {
        private typealias Words = (UInt, UInt, UInt, UInt)
        private var words: Words = (0, 0, 0, 0)
        private var name: Words = (0, 0, 0, 0)

        init(_ cls: UnsafeRawPointer? = nil, name given: UnsafePointer<CChar>? = nil) {
            if let cls { words = cls.load(as: Words.self) }
            let size = min(given.map { strlen($0) } ?? 0, MemoryLayout<Words>.size - 1)
            if let given { memcpy(&name, given, size) }
        }

        /// Ends the process if the class is gone: its shared object was unloaded, or its memory freed.
        func check(_ cls: UnsafeRawPointer, of kind: StaticString) {
            var (now, mine) = (words, words)
            let size = MemoryLayout<Words>.size
            let isThere = vow_platform_read(UInt64(UInt(bitPattern: cls)), &now, size) != 0
            if isThere && memcmp(&now, &mine, size) == 0 { return }
            // Where the system refuses to read even this memory, the check proves nothing.
            let address = withUnsafePointer(to: &mine) { UInt64(UInt(bitPattern: $0)) }
            if vow_platform_read(address, &now, size) == 0 { return }
            writeToStandardError("vow: the class ")
            withUnsafeBytes(of: name) { bytes in
                guard let text = bytes.bindMemory(to: CChar.self).baseAddress else { return }
                writeToStandardError(text, strlen(text))
            }
            writeToStandardError(kind)
            writeToStandardError(" is gone: what it was in was unloaded, or freed, too early\n")
            abort()
        }
    }

    let sizeOfClassCopy = MemoryLayout<ClassCopy>.size
#else
    let sizeOfClassCopy = 0
#endif

// MARK: Marks of handles

enum HandleMark {
    /// Objects begin at multiples of 16.
    static let bit: UInt = 8

    @inline(__always)
    private static func marked(_ address: UnsafeMutableRawPointer?) -> OpaquePointer? {
        #if VOW_CHECKED
            return OpaquePointer(bitPattern: UInt(bitPattern: address) | (address == nil ? 0 : bit))
        #else
            return OpaquePointer(address)
        #endif
    }

    /// The handle without a mark, if it has one.
    @inline(__always)
    static func unmarked(_ handle: OpaquePointer?) -> OpaquePointer? {
        #if VOW_CHECKED
            return OpaquePointer(bitPattern: UInt(bitPattern: handle) & ~bit)
        #else
            return handle
        #endif
    }

    #if VOW_CHECKED
        static func isMarked(_ handle: OpaquePointer?) -> Bool {
            UInt(bitPattern: handle) & bit != 0
        }
    #endif

    @inline(__always)
    static func resolver(_ promise: RecordPointer?) -> OpaquePointer? {
        marked(UnsafeMutableRawPointer(promise))
    }

    @inline(__always)
    static func token(_ source: SourcePointer?) -> OpaquePointer? {
        marked(UnsafeMutableRawPointer(source))
    }
}

// MARK: How many handles a promise has

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The program has one more handle.
    @inline(__always)
    func noteHandle() {
        #if VOW_CHECKED
            _ = pointee.handles.addRelaxed(1)
        #endif
    }

    /// The program may have borrowed a handle from a value, so the count is unknown from here on.
    @inline(__always)
    func noteLent() {
        #if VOW_CHECKED
            _ = pointee.handles.addRelaxed(1 << 32)
        #endif
    }
}
