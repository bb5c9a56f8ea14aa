// The arguments of the exported functions: from C's opaque handles to records and back, and the answer to a wrong argument.
//
// A checked build names a wrong handle, and a handle of another type. It counts a promise's handles as they are given away, so
// that it finds a handle used after that.

import CVow
import CVowPlatform

/// Promises and resolvers are the same record, seen with different rights.
@inline(__always)
func record(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let record = RecordPointer(HandleMark.unmarked(handle))
    #if VOW_CHECKED
        if let record, record.pointee.seal != Seal.live(.promise) {
            if record.pointee.seal == Seal.freed { record.checkIsHeld(function) }
            Seal.refuse(
                record.pointee.seal, handle, .promise, function,
                ": the handle was released before (or is none)")
        }
    #endif
    return record
}

#if VOW_CHECKED
    /// Checks the mark of a handle to an object that has two kinds of handles.
    @inline(__always)
    private func checkMark(
        _ handle: OpaquePointer?, _ isMarked: Bool, _ kind: Sealed, _ function: StaticString
    ) {
        if handle != nil && HandleMark.isMarked(handle) != isMarked {
            Seal.refuse(Seal.live(kind), handle, kind, function, ": the handle is none")
        }
    }
#endif

/// As `record`, for a promise handle. A checked build finds a released handle although producers and readers still keep the
/// record.
@inline(__always)
func promiseRecord(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let promise = record(handle, function)
    #if VOW_CHECKED
        checkMark(handle, false, .promise, function)
        if let promise {
            promise.checkIsHeld(function)
            checkIsRead(promise, function)
        }
    #endif
    return promise
}

#if VOW_CHECKED
    @inline(__always)
    private func checkIsRead(_ promise: RecordPointer, _ function: StaticString) {
        if !promise.pointee.shape.contains(.immortal)
            && promise.nowCounts.isUnread
        {
            fatal(function, ": the promise handle was released before")
        }
    }
#endif

@inline(__always)
func resolverRecord(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let resolver = record(handle, function)
    #if VOW_CHECKED
        checkMark(handle, true, .promise, function)
        if let resolver, !resolver.pointee.shape.contains(.immortal),
            resolver.nowCounts.producers == 0
        {
            fatal(function, ": the resolver was released before")
        }
    #endif
    return resolver
}

@inline(__always)
func executorRecord(_ handle: OpaquePointer?, _ function: StaticString) -> ExecutorPointer? {
    let executor = ExecutorPointer(handle)
    #if VOW_CHECKED
        if let executor, executor.pointee.seal != Seal.live(.executor) {
            Seal.refuse(
                executor.pointee.seal, handle, .executor, function,
                ": the executor was released before (or is none)")
        }
    #endif
    return executor
}

/// A token is its source's record, seen with fewer rights.
@inline(__always)
private func anySourceRecord(_ handle: OpaquePointer?, _ function: StaticString) -> SourcePointer? {
    let source = SourcePointer(HandleMark.unmarked(handle))
    #if VOW_CHECKED
        if let source, source.pointee.seal != Seal.live(.source) {
            Seal.refuse(
                source.pointee.seal, handle, .source, function,
                ": the source or token was released before (or is none)")
        }
    #endif
    return source
}

@inline(__always)
func tokenRecord(_ handle: OpaquePointer?, _ function: StaticString) -> SourcePointer? {
    let source = anySourceRecord(handle, function)
    #if VOW_CHECKED
        checkMark(handle, true, .source, function)
    #endif
    return source
}

/// A checked build finds a released source although tokens keep the record.
@inline(__always)
func sourceRecord(_ handle: OpaquePointer?, _ function: StaticString) -> SourcePointer? {
    let source = anySourceRecord(handle, function)
    #if VOW_CHECKED
        checkMark(handle, false, .source, function)
        if let source, !source.isHeld { fatal(function, ": the source was released before") }
    #endif
    return source
}

@inline(__always)
func checkValue(_ value: vow_value, _ function: StaticString) {
    #if VOW_CHECKED
        if let box = value.box, box.pointee.seal != Seal.live(.value) {
            Seal.refuse(
                box.pointee.seal, OpaquePointer(box), .value, function,
                ": the value was released before")
        }
        if let promise = value.promise {
            _ = record(OpaquePointer(promise), function)
            checkIsRead(promise, function)
        }
    #endif
}

/// Whether the caller's struct is as long as the library's; a longer one comes from a newer header.
@inline(__always)
func isSizeValid<Struct>(_ size: Int, of _: Struct.Type) -> Bool {
    size >= MemoryLayout<Struct>.size
}

/// Whether an array can have this many values or pointers; if not, the caller's array must not be read. A program's addresses
/// have 56 bits at most, and SIZE_MAX, seen as a signed number, is negative.
func canBeArray(_ count: Int) -> Bool { count >= 0 && count <= 1 << 52 }

/// An error VOW_EINVAL (owned) with the message "function: problem".
func invalidArgument(_ function: StaticString, _ problem: StaticString) -> vow_value {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        var text = TextBuffer(buffer)
        text.append(function)
        text.append(": ")
        text.append(problem)
        return makeOwnError(VOW_EINVAL, buffer.baseAddress, payload: vow_none())
            ?? ownErrors.noMemory
    }
}

/// A promise (owned) rejected with that error.
func invalidPromise(
    _ function: StaticString, _ problem: StaticString, _ thread: ThreadPointer
) -> OpaquePointer {
    OpaquePointer(makePromise(of: invalidArgument(function, problem), thread))
}

// MARK: A checked build's words for a wrong handle

#if VOW_CHECKED
    extension Seal {
        /// Ends the program: the function was given a handle that is not that of a live object of the wanted kind.
        @inline(never)
        static func refuse(
            _ seal: UInt64, _ handle: OpaquePointer?, _ wanted: Sealed, _ function: StaticString,
            _ rule: StaticString
        ) -> Never {
            let copy = (seal ^ liveMark) & (1 << kindShift - 1)
            if copy != vow_platform_copy() && vow_platform_is_other_copy(copy) != 0 {
                fatal(function, ": the handle belongs to another copy of the library")
            }
            // A destroyed loop keeps its seal, and a promise's seal may be met by a resolver's handle.
            if seal != live(wanted) || wanted.hasTwoHandles { refuseOther(handle, function) }
            // An unchecked copy of the library has no seals.
            if seal != freed && vow_platform_has_other_copy() != 0 {
                fatal(
                    function,
                    ": the handle was released before, or belongs to another copy of the library")
            }
            fatal(function, rule)
        }

        /// Names the kind of a live handle.
        private static func refuseOther(_ handle: OpaquePointer?, _ function: StaticString) {
            let address = UInt(bitPattern: handle)
            for kind in Sealed.allCases {
                var word: UInt64 = 0
                let place = (address & ~HandleMark.bit) &+ UInt(bitPattern: kind.offset)
                if vow_platform_read(UInt64(place), &word, 8) != 0 && word == live(kind) {
                    fatal(function, kind.sentence(isMarked: address & HandleMark.bit != 0))
                }
            }
        }
    }

    extension Sealed {
        /// The offset of the seal: the last word, but in promises and boxes.
        fileprivate var offset: Int {
            let word = MemoryLayout<UInt64>.size
            switch self {
            case .promise: return RecordOffset.seal
            case .executor: return MemoryLayout<ExecutorRecord>.size - word
            case .source: return MemoryLayout<SourceRecord>.size - word
            case .value: return MemoryLayout<Box>.size - word
            case .loop: return MemoryLayout<LoopRecord>.size - word
            case .scope: return MemoryLayout<Scope>.size - word
            case .registration: return MemoryLayout<Hook>.size - word
            // The seal of a box stands before the address that its handle has.
            case .box: return -word
            }
        }

        fileprivate var hasTwoHandles: Bool { self == .promise || self == .source }

        fileprivate func sentence(isMarked: Bool) -> StaticString {
            switch self {
            case .promise:
                return isMarked ? ": the handle is a resolver's" : ": the handle is a promise's"
            case .source:
                return isMarked ? ": the handle is a token's" : ": the handle is a cancel source's"
            case .executor: return ": the handle is an executor's"
            case .value: return ": the handle is the content of a value"
            case .loop: return ": the handle is a loop's"
            case .scope: return ": the handle is a scope's"
            case .registration: return ": the handle is a registration's"
            case .box: return ": the handle is a box"
            }
        }
    }
#endif

// MARK: Handles that are given away

#if VOW_CHECKED
    extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
        fileprivate func noteTaken(by function: StaticString) {
            pointee.taker.storeRelease(UInt64(UInt(bitPattern: function.utf8Start)))
            _ = pointee.handles.subtractAcquireRelease(1)
        }

        /// Ends the program if a function took the last handle.
        func checkIsHeld(_ function: StaticString) {
            if pointee.handles.loadAcquire() != 0 || pointee.shape.contains(.immortal) { return }
            let taker = UInt(pointee.taker.loadAcquire())
            guard let name = UnsafePointer<CChar>(bitPattern: taker) else { return }
            writeToStandardError("vow: ")
            writeToStandardError(function)
            writeToStandardError(": the promise was consumed before, by ")
            writeToStandardError(name, strlen(name))
            writeToStandardError("\n")
            abort()
        }
    }
#endif

@inline(__always)
func consumedRecord(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let promise = promiseRecord(handle, function)
    #if VOW_CHECKED
        if let promise, !promise.pointee.shape.contains(.immortal) {
            promise.noteTaken(by: function)
        }
    #endif
    return promise
}
