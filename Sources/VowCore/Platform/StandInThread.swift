// A thread of our own, for when libdispatch's are blocked.

import CVowPlatform

/// Runs `work` on a new thread that ends with it and takes no signals. False when the system gives none.
func startThread(
    _ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
) -> Bool {
    vow_platform_start_thread(work) != 0
}
