// A thread of our own, for when libdispatch's are blocked: it makes new ones seconds later, and no more
// than 255.

import CVowPlatform

/// Runs `work` on a new thread that ends with it. False when the system gives no thread.
func startThread(_ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?)
    -> Bool
{
    var thread = pthread_t()
    if pthread_create(&thread, nil, work, nil) != 0 { return false }
    pthread_detach(thread)
    return true
}
