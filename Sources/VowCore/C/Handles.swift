// In a checked build: a promise's handles are given away, and one that is used after that is found.

import CVow
import CVowPlatform

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

/// A promise whose handle the function consumes.
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
