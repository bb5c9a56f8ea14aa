// Waiting for a file descriptor: readable, writable.

import CVow

extension Promise where Success == Void, Failure == any Error {
    /// A promise that is fulfilled, once, when the descriptor can be read without blocking, or is at its end or broken.
    ///
    /// On an event loop's thread the loop watches it, else libdispatch. Keep the descriptor open until the promise is
    /// settled; cancelling the promise, or letting go of it, ends the watch before that returns. Not open:
    /// ``PromiseError/invalidArgument(_:)``.
    public static func readable(_ descriptor: Int32) -> Promise {
        Promise(owned: vow_fd_ready(descriptor, VOW_READ))
    }

    /// The same for writing.
    public static func writable(_ descriptor: Int32) -> Promise {
        Promise(owned: vow_fd_ready(descriptor, VOW_WRITE))
    }
}
