// Reports of failures without a reader.

import CVow

/// A rejected promise that is freed without a handler, a wait or a look at its failure is reported once.
public enum UnhandledRejections {
    /// Sets the closure that reports, on the thread that releases the last reference; nil: a line on standard error.
    public static func setHandler(_ handler: (@Sendable (any Error) -> Void)?) {
        current.withLock {
            $0 = handler
            if handler == nil { vow_on_unhandled(nil, nil) } else { vow_on_unhandled(report, nil) }
        }
    }

    /// Sets the closure that gets the failures that ``Promise/cauterize(file:line:)`` ends, with the place of the call,
    /// on the thread where they come; nil: one line on standard error again.
    public static func setCauterized(
        _ handler: (@Sendable (any Error, _ file: StaticString, _ line: UInt) -> Void)?
    ) {
        cauterized.withLock { $0 = handler }
    }

    static func tellCauterized(_ error: any Error, _ file: StaticString, _ line: UInt) {
        // Called without the lock, as below.
        if let handler = cauterized.withLock({ $0 }) { return handler(error, file, line) }
        writeToStandardError("vow: \(file):\(line): cauterized: \(error)\n")
    }
}

private let cauterized = Guarded<(@Sendable (any Error, StaticString, UInt) -> Void)?>(nil)

private let current = Guarded<(@Sendable (any Error) -> Void)?>(nil)

private func report(_ error: vow_value, _: UnsafeMutableRawPointer?) {
    // Called without the lock: the handler may set another handler.
    if let handler = current.withLock({ $0 }) { handler(decodeError(error)) }
}
