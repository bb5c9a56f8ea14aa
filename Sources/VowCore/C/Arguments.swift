// What every exported function does with its arguments: from C's opaque handles to records and back,
// and the answer to a wrong one.

import CVow

/// Promises and resolvers are the same record, seen with different rights.
@inline(__always)
func record(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let record = RecordPointer(handle)
    #if VOW_CHECKED
        if let record, record.pointee.seal != Seal.live {
            Seal.refuse(
                record.pointee.seal, function, ": the handle was released before (or is none)")
        }
    #endif
    return record
}

/// Like `record`, for a handle to read with: in a checked build, one that nobody should have any more is
/// found although producers still keep the record.
@inline(__always)
func promiseRecord(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let promise = record(handle, function)
    #if VOW_CHECKED
        if let promise, !promise.pointee.shape.contains(.immortal),
            promise.pointee.counts.loadAcquire() & 0xffff_ffff == 0
        {
            fatal(function, ": the promise handle was released before")
        }
    #endif
    return promise
}

@inline(__always)
func resolverRecord(_ handle: OpaquePointer?, _ function: StaticString) -> RecordPointer? {
    let resolver = record(handle, function)
    #if VOW_CHECKED
        if let resolver, !resolver.pointee.shape.contains(.immortal),
            resolver.pointee.counts.loadAcquire() >> 32 == 0
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
        if let executor, executor.pointee.seal != Seal.live {
            Seal.refuse(
                executor.pointee.seal, function, ": the executor was released before (or is none)")
        }
    #endif
    return executor
}

/// A token is its source's record, seen with fewer rights.
@inline(__always)
func tokenRecord(_ handle: OpaquePointer?, _ function: StaticString) -> SourcePointer? {
    let source = SourcePointer(handle)
    #if VOW_CHECKED
        if let source, source.pointee.seal != Seal.live {
            Seal.refuse(
                source.pointee.seal, function,
                ": the source or token was released before (or is none)")
        }
    #endif
    return source
}

/// In a checked build, a source that nobody should have any more is found although tokens keep the record.
@inline(__always)
func sourceRecord(_ handle: OpaquePointer?, _ function: StaticString) -> SourcePointer? {
    let source = tokenRecord(handle, function)
    #if VOW_CHECKED
        if let source, !source.isHeld { fatal(function, ": the source was released before") }
    #endif
    return source
}

@inline(__always)
func checkValue(_ value: vow_value, _ function: StaticString) {
    #if VOW_CHECKED
        if let box = value.box, box.pointee.seal != Seal.live {
            Seal.refuse(box.pointee.seal, function, ": the value was released before")
        }
        if value.promise != nil { _ = promiseRecord(OpaquePointer(value.as.pointer), function) }
    #endif
}

/// Whether the struct that the caller filled reaches as far as ours; larger ones come from newer headers.
@inline(__always)
func isSizeValid<Struct>(_ size: Int, of _: Struct.Type) -> Bool {
    size >= MemoryLayout<Struct>.size
}

/// Whether there can be an array of so many values or pointers. Else the caller's, which is none, must not be touched: a
/// program's addresses have 56 bits at most. (SIZE_MAX, seen as a signed number, is negative.)
func canBeArray(_ count: Int) -> Bool { count >= 0 && count <= 1 << 52 }

/// An error VOW_EINVAL (owned) whose message is "function: what is wrong".
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

/// A promise (owned) rejected with such an error.
func invalidPromise(
    _ function: StaticString, _ problem: StaticString, _ thread: ThreadPointer
) -> OpaquePointer {
    OpaquePointer(makePromise(of: invalidArgument(function, problem), thread))
}
