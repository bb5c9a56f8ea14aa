// The library's own errors. They exist before they are needed: rejecting allocates nothing.

import CVow
import CVowPlatform

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
