// How far the work for a promise is: onProgress, setProgress.

import CVow
import VowCore

extension Promise {
    /// Has `body` called with the newest progress of this promise's work: a fraction from 0 to 1 and perhaps a note.
    /// Returns the promise itself.
    ///
    /// Progress belongs to one promise: a derived promise has its own. `all`, `allSettled`, `map` and `reduce` report
    /// by themselves which share of their promises or items is done. Calls of `body` come one at a time, and none
    /// begins once the promise is settled, except for the fraction 1: if it was reported before, `body` is called with
    /// it in any case. A listener is no reader: it neither handles a failure nor keeps the work wanted. The closure is
    /// released with the promise: if it captured the promise or its resolver, they would keep each other.
    ///
    /// ```swift
    /// download.onProgress(every: .milliseconds(100), on: .main) { fraction, note in
    ///     bar.show(fraction, note ?? "")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: at least this long lies between two calls, by the executor's clock, except before the last, of
    ///     fraction 1; of faster reports only the newest is kept. Not negative.
    ///   - executor: where `body` runs; nil: as for a handler.
    ///   - token: once it is cancelled, `body` is not called any more, and is released when no call of it runs.
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
