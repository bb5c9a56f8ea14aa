// How long a promise takes, as a metric.

public import CoreMetrics
public import Vow

extension Promise {
    /// Records in a timer how long it takes from here until the promise is settled, with how it ends as the dimension
    /// `outcome`: `fulfilled`, `rejected` or `cancelled`.
    ///
    /// - Returns: a promise that settles as this one does, when that is recorded.
    public func measured(
        _ label: String, dimensions: [(String, String)] = [],
        factory: any MetricsFactory = MetricsSystem.factory
    ) -> Promise {
        let begin = ContinuousClock.now
        return tap(on: .inline) { result in
            let outcome = (begin.duration(to: .now), result.outcome)
            let (seconds, attoseconds) = outcome.0.components
            CoreMetrics.Timer(
                label: label, dimensions: dimensions + [("outcome", outcome.1)], factory: factory
            )
            .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
    }
}

extension Result {
    fileprivate var outcome: String {
        switch self {
        case .success: "fulfilled"
        case .failure(let error) where error is CancellationError: "cancelled"
        case .failure(let error as any CancellableError) where error.isCancelled: "cancelled"
        case .failure: "rejected"
        }
    }
}
