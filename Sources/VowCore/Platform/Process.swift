// What the process as a whole goes through: fork, and the end of the library's work in it.

import CVowPlatform

/// 1 in a child made by fork, where the pool's threads and libdispatch's are gone. Relaxed: the child begins with one
/// thread, which wrote it.
let forkedFlag = AtomicWord(0)

@inline(__always)
var isForkedChild: Bool { forkedFlag.loadRelaxed() != 0 }

/// Not 0: executors that need such threads take nothing more, because this is such a child, or after `vow_shutdown`.
let refusalFlag = AtomicWord(0)

@inline(__always)
var refusesWork: Bool { refusalFlag.loadRelaxed() != 0 }

/// Registers what keeps the core's own lock consistent across a fork.
func watchForks(
    before: @convention(c) () -> Void,
    inParent: @convention(c) () -> Void,
    inChild: @convention(c) () -> Void
) {
    _ = pthread_atfork(before, inParent, inChild)
}
