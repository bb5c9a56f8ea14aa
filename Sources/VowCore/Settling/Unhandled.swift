// Reports of rejections that no reader has observed. The program's hook is called if there is one. Else the report goes to
// standard error: the first rejections each on a line, then one line whenever their number has doubled, and at the end the sum.

import CVow
import CVowPlatform

typealias UnhandledHook = @convention(c) (vow_value, UnsafeMutableRawPointer?) -> Void

/// Hook and context change together, under the lock.
struct UnhandledReporter {
    var hook: UnhandledHook?
    var context: UnsafeMutableRawPointer?
    /// Destroys the context; one hold, owned. Nil: nothing is to be destroyed.
    var end: ReporterEndPointer?
}

typealias ReporterEndPointer = UnsafeMutablePointer<ReporterEnd>

/// Destroys the context of a hook after the hook was replaced and its last call has returned.
struct ReporterEnd: ~Copyable {
    let context: UnsafeMutableRawPointer?
    let destroy: Destroy
    /// The hook has one, and each call.
    let holds = AtomicWord(1)
}

let unhandledReporterLock = SpinLock()
nonisolated(unsafe) var unhandledReporter = UnhandledReporter()

/// Returns false, and destroys the context, without memory, which only a `destroy` needs.
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

/// Reports the error of a promise that is being freed; the hook borrows it.
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

/// A `finally` behind a promise has failed with an error (borrowed). The promise's own error is reported when it is freed,
/// unless that error says it again, or another reader observes it.
@inline(never)
func reportIfReplaced(_ promise: RecordPointer, by error: vow_value) {
    if promise.value.isError && !error.says(promise.value) {
        promise.pointee.isObserved.takeBackAlone()
    }
}

extension vow_value {
    /// The error, or one of its causes, is another error, or has the same domain, code and message.
    @inline(never)
    func says(_ other: vow_value) -> Bool {
        var error = self
        while error.isError, let box = error.box {
            if error.hasWords(of: other) { return true }
            // A late error has no causes yet.
            if box.isLate { return false }
            error = box.part(ErrorPart.self).pointee.payload
        }
        return false
    }

    @inline(never)
    fileprivate func hasWords(of other: vow_value) -> Bool {
        guard isError, other.isError, let box, let wanted = other.box else { return false }
        if box == wanted { return true }
        if box.isLate || wanted.isLate || box.errorCode != wanted.errorCode { return false }
        return strcmp(box.domain, wanted.domain) == 0 && strcmp(box.message, wanted.message) == 0
    }
}

// MARK: Standard error

/// The first reports, each with a line of its own.
private let first: UInt64 = 10
/// All reports, and how many the last line told.
private let reported = AtomicWord(0)
private let told = AtomicWord(0)
/// `writeSumOfReports` is registered.
private let hasSum = AtomicWord(0)

func writeReport(_ promise: RecordPointer) {
    writeReport("unhandled rejection") {
        appendName(of: promise, to: &$0)
        $0.append(": ")
        describe(promise.value, into: &$0, makes: true)
    }
}

/// Writes a report, of a rejection or of a scope's late member, if its number has a line.
func writeReport(_ what: StaticString, _ describe: (inout TextBuffer) -> Void) {
    let number = reported.addRelaxed(1) &+ 1
    // `atexit` may need memory; without it, the next report tries again.
    if number > first && hasSum.loadRelaxed() == 0 && atexit(writeSumOfReports) == 0 {
        hasSum.storeRelaxed(1)
    }
    if !hasLine(number) { return }
    told.storeRelaxed(number)
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer in
        var text = TextBuffer(buffer)
        text.append("vow: ")
        text.append(what)
        if number > first { appendNumber(number, to: &text) }
        describe(&text)
        writeLine(text)
    }
}

/// The first few, and twice, four times, eight times as many.
private func hasLine(_ number: UInt64) -> Bool {
    if number <= first { return true }
    let (times, rest) = number.quotientAndRemainder(dividingBy: first)
    return rest == 0 && times & (times - 1) == 0
}

private func appendNumber(_ number: UInt64, to text: inout TextBuffer) {
    text.append(" (")
    text.append(Int64(number))
    text.append(" by now, not all written)")
}

/// Called when the process, or the library's work in it, ends. Writes the sum if the last line told less.
func writeSumOfReports() {
    let number = reported.loadRelaxed()
    if number <= told.loadRelaxed() { return }
    told.storeRelaxed(number)
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        var text = TextBuffer(buffer)
        text.append("vow: ")
        text.append(Int64(number))
        text.append(" unhandled rejections, not all written")
        writeLine(text)
    }
}

/// In a forked child: the reports were the parent's.
func forgetReports() {
    reported.storeRelaxed(0)
    told.storeRelaxed(0)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// The label that a reaction or a scope was made with.
    fileprivate var givenLabel: UnsafePointer<CChar>? {
        if pointee.shape.isProduced {
            return producer.pointee.kind == .scope ? part(ScopeTerms.self).pointee.label : nil
        }
        return pointee.shape.contains(.linkWithExtras) ? extras.pointee.label : nil
    }
}

/// Appends the label of a promise and the place where it was made.
func appendName(of promise: RecordPointer, to text: inout TextBuffer) {
    if !isTracing || !appendOrigin(of: promise, to: &text) {
        appendLabel(promise.givenLabel, to: &text)
    }
}

private func appendLabel(_ label: UnsafePointer<CChar>?, to text: inout TextBuffer) {
    guard let label else { return }
    text.append(" of '")
    text.append(label, strlen(label))
    text.append("'")
}

/// Appends the label and the place that the trace knows. Returns false if it knows nothing.
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
