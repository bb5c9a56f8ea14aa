// The core's handles as Swift references. Each copy is a reference that the core counts: its retain and release are
// vow_promise_retain and vow_promise_release, so the record needs no object beside it (CVowPlatform's handles.h).
//
// Types of ours keep a handle as an optional, which is never nil: the compiler of Swift 6.3.1 crashes where it copies an
// optional of a struct whose only field is such a reference.

public import CVowPlatform

extension PromiseHandle {
    /// Borrowed: the caller keeps the handle meanwhile.
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
    /// Borrowed: the caller keeps the handle meanwhile.
    @inlinable @inline(__always)
    var pointer: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Takes a reference (consumed) over.
    @inlinable @inline(__always)
    static func taking(_ resolver: OpaquePointer) -> ResolverHandle {
        vow_swift_take_resolver(UnsafeMutableRawPointer(resolver))
    }
}
