// Waiting for a time: delay.

import CVow

extension Promise where Success == Void, Failure == any Error {
    /// A promise that is fulfilled after this time, at the earliest. On the thread of an event loop the loop's clock
    /// counts. Cancelling it, or letting go of it, removes its timer.
    ///
    /// - Parameter duration: not negative, else the promise is rejected.
    public static func delay(_ duration: Duration) -> Promise {
        Promise(owned: vow_delay(duration.wholeNanoseconds))
    }
}

extension Promise where Failure == any Error {
    /// The same value, so much later; a failure passes at once.
    ///
    /// - Parameter executor: begins the delay, by its clock; as for a handler.
    public func delay(
        _ duration: Duration, on executor: PromiseExecutor? = nil,
        cancelledBy token: CancellationToken? = nil
    ) -> Promise {
        then(on: executor, cancelledBy: token) { value in
            Promise<Void, any Error>.delay(duration).map(on: .inline) { value }
        }
    }
}
