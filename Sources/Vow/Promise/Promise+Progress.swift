// How far the work for a promise is: onProgress, setProgress.

import CVow
import VowCore

extension Promise {
    /// Has `body` called with what is newest of how far the work for this promise is: a fraction from 0 to 1 and
    /// perhaps a note. Returns the promise itself.
    ///
    /// Progress belongs to one promise: what is derived from it has its own. `all`, `allSettled`, `map` and
    /// `reduce` tell by themselves which share of their promises or items is done. `body` is called one call at a time,
    /// and none begins once the promise is settled, but that all is done: a fraction of 1 that was said before is told
    /// in any case. Listening is no interest in the result: it neither handles a
    /// failure nor keeps the work wanted. The closure is let go of with the promise: if it
    /// captured the promise or its resolver, they would keep each other.
    ///
    /// ```swift
    /// download.onProgress(every: .milliseconds(100), on: .main) { fraction, note in
    ///     bar.show(fraction, note ?? "")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: at least this long lies between two calls, by the executor's clock, but for the last, of fraction
    ///     1; what comes faster is left out for what is newer. Not negative.
    ///   - executor: where `body` runs; nil: as for a handler.
    ///   - token: once it is cancelled, `body` is not called any more, and let go of when no call of it runs.
    @discardableResult
    public func onProgress(
        every interval: Duration = .zero, on executor: PromiseExecutor? = nil,
        cancelledBy token: CancellationToken? = nil,
        _ body: @escaping @Sendable (_ fraction: Double, _ note: String?) -> Void
    ) -> Promise {
        precondition(interval >= .zero, "onProgress: a negative interval")
        let listening = Unmanaged.passRetained(Listening(body)).toOpaque()
        let isListening = withPointer { promise in
            PromiseExecutor.withPointer(executor) { executor in
                CancellationToken.withPointer(token) {
                    listenWith(
                        listening, Listening.tell, destroy: Listening.release, to: promise,
                        every: interval.wholeNanoseconds, on: executor, until: $0)
                }
            }
        }
        if !isListening { fatalError("no memory to listen to a promise") }
        return self
    }

    /// Reports the progress of this promise's work, for code that has the promise and not its resolver. As
    /// ``PromiseResolver/setProgress(_:note:)``.
    @discardableResult
    public func setProgress(_ fraction: Double, note: String? = nil) -> Bool {
        withPointer { vow_promise_set_progress($0, fraction, note?.cut(toBytes: longestNote)) == 0 }
    }
}

extension PromiseResolver {
    /// Reports the progress of the promise's work: `fraction`, from 0 to 1 and cut to that, and a note of 127 bytes at
    /// most. It may go back. The call has no effect without a listener, or once the promise is settled.
    ///
    /// - Returns: false if the fraction is no number (0 of 0 bytes, perhaps): then no listener is notified.
    @discardableResult
    public func setProgress(_ fraction: Double, note: String? = nil) -> Bool {
        withPointer {
            vow_resolver_set_progress($0, fraction, note?.cut(toBytes: longestNote)) == 0
        }
    }
}

private let longestNote = 127

/// A closure as the context of a C function that is called several times.
private final class Listening: Sendable {
    private let body: @Sendable (Double, String?) -> Void

    init(_ body: @escaping @Sendable (Double, String?) -> Void) { self.body = body }

    static let tell: vow_progress_handler = { fraction, note, context in
        guard let context else { return }
        let listening = Unmanaged<Listening>.fromOpaque(context).takeUnretainedValue()
        listening.body(fraction, note.map { String(cString: $0) })
    }

    static let release: @convention(c) @Sendable (UnsafeMutableRawPointer?) -> Void = { context in
        guard let context else { return }
        Unmanaged<Listening>.fromOpaque(context).release()
    }
}
