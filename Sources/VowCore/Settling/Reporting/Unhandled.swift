// Telling somebody about a rejection that nobody observed.

import CVow
import CVowPlatform

typealias UnhandledHook = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Void

/// The hook and its context change together, under the lock.
struct UnhandledReporter {
    var hook: UnhandledHook?
    var context: UnsafeMutableRawPointer?
    /// Not nil: the context is to be destroyed with it; one hold, owned.
    var end: ReporterEndPointer?
}

typealias ReporterEndPointer = UnsafeMutablePointer<ReporterEnd>

/// Destroys the context of a hook when that was replaced and no call of it is running.
struct ReporterEnd: ~Copyable {
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy
    /// That it is the hook, and each call.
    let holds = AtomicWord(1)
}

let unhandledReporterLock = SpinLock()
nonisolated(unsafe) var unhandledReporter = UnhandledReporter()

/// False without memory, which only one with `destroy` needs; then the context is destroyed.
@discardableResult
func setUnhandledHook(
    _ hook: UnhandledHook?, _ context: UnsafeMutableRawPointer?, destroy: Destroy? = nil,
    _ thread: ThreadPointer = currentThread()
) -> Bool {
    var reporter = UnhandledReporter(hook: hook, context: context)
    if let destroy {
        guard let memory = takeMemory(MemoryLayout<ReporterEnd>.stride) else {
            runForeign(thread) { destroy(context) }
            return false
        }
        let end = memory.bindMemory(to: ReporterEnd.self, capacity: 1)
        end.initialize(to: ReporterEnd(context: context, destroy: destroy))
        reporter.end = end
    }
    let before = unhandledReporterLock.withLock {
        let before = unhandledReporter
        unhandledReporter = reporter
        return before
    }
    if let end = before.end { letGo(of: end, thread) }
    return true
}

private func letGo(of end: ReporterEndPointer, _ thread: ThreadPointer) {
    if end.pointee.holds.subtractAcquireRelease(1) != 1 { return }
    let (destroy, context) = (end.pointee.destroy, end.pointee.context)
    giveMemoryBack(end, MemoryLayout<ReporterEnd>.stride)
    runForeign(thread) { destroy(context) }
}

/// The promise is dying: its error is lent to the hook.
func reportUnhandled(_ promise: RecordPointer, _ thread: ThreadPointer) {
    if promise.value.hasWords(of: ownErrors.ended) { return }
    let reporter = unhandledReporterLock.withLock {
        _ = unhandledReporter.end?.pointee.holds.addRelaxed(1)
        return unhandledReporter
    }
    if let hook = reporter.hook {
        runForeign(thread) { hook(promise.value, reporter.context) }
        if let end = reporter.end { letGo(of: end, thread) }
    } else {
        writeReport(promise)
    }
}

/// A `finally` has failed with an error (borrowed) behind a promise. That one's own error is reported when it dies, unless
/// it is said again, or anybody else observes it.
@inline(never)
func reportIfReplaced(_ promise: RecordPointer, by error: vow_value) {
    if promise.value.isError && !error.says(promise.value) {
        promise.pointee.isObserved.takeBackAlone()
    }
}

extension vow_value {
    /// Whether an error, or one of its causes, is another error, or has its words.
    @inline(never)
    func says(_ other: vow_value) -> Bool {
        var error = self
        while error.isError, let box = error.box {
            if error.hasWords(of: other) { return true }
            // An error that is made late has no causes yet.
            if box.isLate { return false }
            error = box.part(ErrorPart.self).pointee.payload
        }
        return false
    }

    /// The same error, or one of the same domain, code and message.
    @inline(never)
    fileprivate func hasWords(of other: vow_value) -> Bool {
        guard isError, other.isError, let box, let wanted = other.box else { return false }
        if box == wanted { return true }
        if box.isLate || wanted.isLate || box.errorCode != wanted.errorCode { return false }
        return strcmp(box.domain, wanted.domain) == 0 && strcmp(box.message, wanted.message) == 0
    }
}
