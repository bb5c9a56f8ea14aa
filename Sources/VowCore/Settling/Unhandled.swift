// Telling the program about a rejection that no reader has observed.
//
// The program's hook is told where there is one. Else the report is written to standard error: the first rejections each on
// a line of its own, then one each time their number has doubled, and in the end how many there were.

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

// MARK: What is written to standard error

/// So many have a line of their own.
private let first: UInt64 = 10
/// How many there were, and how many the last line spoke of.
private let reported = AtomicWord(0)
private let told = AtomicWord(0)
/// The end of the process writes how many.
private let hasSum = AtomicWord(0)

func writeReport(_ promise: RecordPointer) {
    writeReport("unhandled rejection") {
        appendName(of: promise, to: &$0)
        $0.append(": ")
        describe(promise.value, into: &$0, makes: true)
    }
}

/// Of anything that is told to who hears of unhandled rejections.
func writeReport(_ what: StaticString, _ describe: (inout TextBuffer) -> Void) {
    let number = reported.addRelaxed(1) &+ 1
    // That may need memory; where it has none, the next one tries again.
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

/// When the process ends, or the library's work in it: if there are more than the last line spoke of.
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

/// In a forked child: those were its parent's.
func forgetReports() {
    reported.storeRelaxed(0)
    told.storeRelaxed(0)
}

extension UnsafeMutablePointer where Pointee: ~Copyable, Pointee == Record {
    /// Of a reaction or a scope: the one that it was made with.
    fileprivate var givenLabel: UnsafePointer<CChar>? {
        if pointee.shape.isProduced {
            return producer.pointee.kind == .scope ? part(ScopeTerms.self).pointee.label : nil
        }
        return pointee.shape.contains(.linkWithExtras) ? extras.pointee.label : nil
    }
}

/// What is known of a promise: its label, and where it was made.
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
