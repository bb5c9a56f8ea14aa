// The core's handles in Swift's hands. Each copy is a reference that the core counts: retaining and releasing one is
// vow_promise_retain and vow_promise_release, so no object stands beside the record (CVowPlatform's handles.h).
//
// Types of ours keep one as an optional, which is never nil: the compiler of Swift 6.3.1 crashes where it copies an optional of a
// struct whose only field is such a reference.

public import CVowPlatform

extension PromiseHandle {
    /// Borrowed: whoever calls keeps the handle meanwhile.
    @inlinable @inline(__always)
    var promise: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// The handle's reference, owned by the caller from now on. The last copy's is handed on without being counted.
    @inlinable @inline(__always)
    static func promise(of handle: consuming PromiseHandle) -> OpaquePointer {
        OpaquePointer(Unmanaged.passRetained(handle).toOpaque())
    }

    /// Takes a reference (consumed) over.
    @inlinable @inline(__always)
    static func taking(_ promise: OpaquePointer) -> PromiseHandle {
        vow_swift_take_promise(UnsafeMutableRawPointer(promise))
    }
}

extension ResolverHandle {
    /// Borrowed: whoever calls keeps the handle meanwhile.
    @inlinable @inline(__always)
    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Takes a reference (consumed) over.
    @inlinable @inline(__always)
    static func taking(_ resolver: OpaquePointer) -> ResolverHandle {
        vow_swift_take_resolver(UnsafeMutableRawPointer(resolver))
    }
}
