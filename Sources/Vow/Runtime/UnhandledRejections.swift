// What happens to failures that nobody looked at.

import CVow

/// A rejected promise that goes away although nobody has handled, awaited or looked at its failure is reported once.
public enum UnhandledRejections {
    /// Sets what reports, on the thread that let the last reference go; nil: one line on standard error again.
    public static func setHandler(_ handler: (@Sendable (any Error) -> Void)?) {
        current.withLock {
            $0 = handler
            if handler == nil { vow_on_unhandled(nil, nil) } else { vow_on_unhandled(report, nil) }
        }
    }
}

private let current = Guarded<(@Sendable (any Error) -> Void)?>(nil)

private func report(_ error: vow_value, _: UnsafeMutableRawPointer?) {
    // Called without the lock: it may set another one.
    if let handler = current.withLock({ $0 }) { handler(decodeError(error)) }
}
