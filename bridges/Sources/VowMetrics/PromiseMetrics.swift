// How many promises there are, as metrics.

public import CoreMetrics
import Dispatch
import Synchronization
import Vow

/// Hands on what ``Vow/PromiseRuntime/statistics`` counts.
///
/// ```swift
/// let metrics = PromiseMetrics(every: .seconds(10))
/// metrics.countUnhandled { logger.error("nobody handled: \($0)") }
/// ```
///
/// | metric | |
/// |---|---|
/// | `vow.promises.created`, `vow.promises.settled` | counters |
/// | `vow.promises.unhandled` | a counter, with ``countUnhandled(_:)`` |
/// | `vow.promises.live`, `vow.promises.pending` | meters |
/// | `vow.handlers` | a meter: reactions that wait for a promise or for their executor |
/// | `vow.bytes`, `vow.bytes.spare` | meters: what promises hold, and what threads keep for new ones |
public final class PromiseMetrics: Sendable {
    private let created, settled, unhandled: Counter
    private let live, pending, handlers, bytes, spare: Meter
    private let last = Mutex<(created: UInt64, settled: UInt64)>((0, 0))
    private let ticks = Mutex<EventSource?>(nil)

    /// - Parameters:
    ///   - interval: records so often, for as long as somebody keeps this; nil: only ``record()`` does.
    ///   - prefix: what each name begins with.
    ///   - factory: makes the metrics; as it stands, the one that the program has chosen.
    public init(
        every interval: Duration? = nil, prefix: String = "vow",
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        func counter(_ name: String) -> Counter {
            Counter(label: "\(prefix).\(name)", factory: factory)
        }
        func meter(_ name: String) -> Meter { Meter(label: "\(prefix).\(name)", factory: factory) }
        created = counter("promises.created")
        settled = counter("promises.settled")
        unhandled = counter("promises.unhandled")
        live = meter("promises.live")
        pending = meter("promises.pending")
        handlers = meter("handlers")
        bytes = meter("bytes")
        spare = meter("bytes.spare")
        guard let interval else { return }
        let source = EventSource.timer(every: interval)
        source.bind { [weak self] in self?.record() }
        ticks.withLock { $0 = source }
    }

    /// Records where the counts stand now.
    public func record() {
        let now = PromiseRuntime.statistics
        let (new, over) = last.withLock { last in
            // A moment's view while threads work: it does not go back.
            let (created, settled) = (
                max(now.created, last.created), max(now.settled, last.settled)
            )
            defer { last = (created, settled) }
            return (created - last.created, settled - last.settled)
        }
        created.increment(by: new)
        settled.increment(by: over)
        live.set(now.live)
        pending.set(now.pending)
        handlers.set(now.handlers)
        bytes.set(now.bytes)
        spare.set(now.spare)
    }

    /// Counts, from here on, the failures that nobody has looked at, and hands them on. It takes the place of
    /// ``Vow/UnhandledRejections/setHandler(_:)``.
    public func countUnhandled(_ handler: @escaping @Sendable (any Error) -> Void) {
        let unhandled = unhandled
        UnhandledRejections.setHandler { error in
            unhandled.increment()
            handler(error)
        }
    }
}
