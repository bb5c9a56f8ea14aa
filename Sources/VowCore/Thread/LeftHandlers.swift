// Handlers that were left by longjmp, which reads no unwind tables (see boundary.c for what does): their frame is still
// the thread's innermost one, but no longer on its stack.

import CVowPlatform

/// Before a wait, which would read that frame.
func checkHandlersAreThere(_ thread: ThreadPointer) {
    if let frame = thread.pointee.frame { checkIsThere(frame) }
}

@inline(never)
func checkIsThere(_ place: UnsafeRawPointer) {
    if vow_platform_is_left(place) != 0 {
        fatal(
            "longjmp left a handler, or another function that the library had called; ",
            "nothing can go on after that")
    }
}
