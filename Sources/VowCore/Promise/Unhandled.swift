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

/// One line, written in one piece as far as it fits.
private func writeReport(_ promise: RecordPointer) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        text.append("vow: unhandled rejection")
        if promise.pointee.shape.contains(.extras), let label = promise.extras.pointee.label {
            text.append(" of '")
            text.append(label, strlen(label))
            text.append("'")
        }
        if isTracing { appendSite(of: promise, to: &text) }
        text.append(": ")
        describe(promise.value, into: &text)
        text.endLine()
        text.withText { writeToStandardError($0, $1) }
    }
}

/// The label that it was given, and where it was made, as far as a trace knows.
private func appendSite(of promise: RecordPointer, to text: inout TextBuffer) {
    withTrace { trace in
        guard let entry = trace.table.find(promise)?.pointee else { return }
        if let label = entry.label, !promise.pointee.shape.contains(.extras) {
            text.append(" of '")
            text.append(label, strlen(label))
            text.append("'")
        }
        if let site = entry.site {
            text.append(" made at ")
            text.appendSite(site)
        }
    }
}
