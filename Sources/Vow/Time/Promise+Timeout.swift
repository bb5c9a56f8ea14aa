// Not waiting longer than a time: timeout.

import CVow

extension Promise where Failure == any Error {
    /// The same promise, if it is settled within this time; else it is rejected with
    /// ``PromiseError/timedOut(lastError:)``, and this one is cancelled if nobody else is interested.
    ///
    /// - Parameter duration: not negative, else the promise is rejected. On the thread of an event loop the loop's
    ///   clock counts.
    public func timeout(_ duration: Duration) -> Promise { limited(to: duration) }
}

extension Promise where Failure: PromiseFailure {
    /// As for a promise of any error, with its failure of ``PromiseError/timedOut(lastError:)``.
    public func timeout(_ duration: Duration) -> Promise { limited(to: duration) }
}

extension Promise {
    fileprivate func limited(to duration: Duration) -> Promise {
        let time = duration.wholeNanoseconds
        // VOW_FOREVER is a negative number, too.
        let refused = Int64(VOW_FOREVER) - 1
        return Promise(owned: vow_timeout(retainedPointer(), time < 0 ? refused : time))
    }
}
