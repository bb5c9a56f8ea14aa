// Telling somebody about a rejection that nobody observed.

import CVow
import CVowPlatform

typealias UnhandledHook = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Void

/// The hook and its context change together, under the lock.
struct UnhandledReporter {
    var hook: UnhandledHook?
    var context: UnsafeMutableRawPointer?
}

let unhandledReporterLock = SpinLock()
nonisolated(unsafe) var unhandledReporter = UnhandledReporter()

func setUnhandledHook(_ hook: UnhandledHook?, _ context: UnsafeMutableRawPointer?) {
    unhandledReporterLock.withLock {
        unhandledReporter.hook = hook
        unhandledReporter.context = context
    }
}

/// The promise is dying: its error is lent to the hook.
func reportUnhandled(_ promise: RecordPointer, _ thread: ThreadPointer) {
    let (hook, context) = unhandledReporterLock.withLock {
        (unhandledReporter.hook, unhandledReporter.context)
    }
    if let hook {
        runForeign(thread) { hook(promise.value, context) }
    } else {
        writeReport(promise)
    }
}
