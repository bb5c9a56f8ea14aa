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
        if !isTracing || !appendOrigin(of: promise, to: &text) {
            appendLabel(promise.givenLabel, to: &text)
        }
        text.append(": ")
        describe(promise.value, into: &text)
        text.endLine()
        text.withText { writeToStandardError($0, $1) }
    }
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction: the one that it was made with.
    fileprivate var givenLabel: UnsafePointer<CChar>? {
        pointee.shape.contains(.extras) ? extras.pointee.label : nil
    }
}

private func appendLabel(_ label: UnsafePointer<CChar>?, to text: inout TextBuffer) {
    guard let label else { return }
    text.append(" of '")
    text.append(label, strlen(label))
    text.append("'")
}

/// What a trace knows: the label that it has now, and where it was made. False: nothing.
private func appendOrigin(of promise: RecordPointer, to text: inout TextBuffer) -> Bool {
    let isKnown: Bool? = withTrace { trace in
        guard let entry = trace.table.find(promise)?.pointee else { return false }
        appendLabel(entry.label.map { UnsafePointer($0) }, to: &text)
        if let site = entry.site {
            text.append(" made at ")
            text.appendSite(site, trace.sites)
        }
        return true
    }
    return isKnown ?? false
}
