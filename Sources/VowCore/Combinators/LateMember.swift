// Telling somebody of a member that holds up the end of its scope: where unhandled rejections are told.

import CVow
import CVowPlatform

/// A member (borrowed) of a scope has not settled, so many nanoseconds after it was cancelled.
func reportLate(
    _ member: RecordPointer, in scope: UnsafePointer<CChar>?, after patience: Int64,
    _ thread: ThreadPointer
) {
    let (hook, context) = unhandledReporterLock.withLock {
        (unhandledReporter.hook, unhandledReporter.context)
    }
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        guard let hook else {
            writeReport("late member") {
                $0.append(": ")
                describeLate(member, in: scope, after: patience, into: &$0)
            }
            return
        }
        describeLate(member, in: scope, after: patience, into: &text)
        let error =
            makeOwnError(VOW_ETIMEDOUT, buffer.baseAddress, payload: vow_none())
            ?? ownErrors.timedOut
        runForeign(thread) { hook(error, context) }
        error.release(thread)
    }
}

private func describeLate(
    _ member: RecordPointer, in scope: UnsafePointer<CChar>?, after patience: Int64,
    into text: inout TextBuffer
) {
    text.append("the promise")
    appendName(of: member, to: &text)
    text.append(" has not settled ")
    text.append(patience / 1_000_000)
    text.append(" ms after its scope")
    if let scope {
        text.append(" '")
        text.append(scope, strlen(scope))
        text.append("'")
    }
    text.append(" was cancelled")
}
