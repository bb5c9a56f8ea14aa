// A counted handle of the core in Swift's hands.

/// Owns one reference, and gives it back when the last copy is gone.
@usableFromInline
final class Handle: @unchecked Sendable {
    // Unchecked because of the pointer: any thread may use its object, see vow.h.
    let pointer: OpaquePointer
    private let release: @convention(c) (OpaquePointer?) -> Void

    /// Takes a reference (consumed) over.
    init(_ pointer: OpaquePointer, release: @escaping @convention(c) (OpaquePointer?) -> Void) {
        self.pointer = pointer
        self.release = release
    }

    deinit { release(pointer) }

    /// Calls `body` with the handle, borrowed.
    @inline(__always)
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        withExtendedLifetime(self) { body(pointer) }
    }
}
