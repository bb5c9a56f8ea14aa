// What is written to standard error where the program has no hook: the first rejections each on a line of its own, then
// one each time their number has doubled, and in the end how many there were.

import CVow
import CVowPlatform

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
