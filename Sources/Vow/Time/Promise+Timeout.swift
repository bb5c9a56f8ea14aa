// Not waiting longer than a time: timeout.

import CVow

extension Promise where Failure == any Error {
    /// A promise that settles as this promise does, if within this time; else it is rejected with
    /// ``PromiseError/timedOut(lastError:)``, and this promise is cancelled unless it has another reader.
    ///
    /// - Parameter duration: not negative, else the promise is rejected. On the thread of an event loop the loop's
    ///   clock counts.
    public func timeout(_ duration: Duration) -> Promise { limited(to: duration) }
}

extension Promise where Failure: PromiseFailure {
    /// As for a promise of any error, with the failure type's case for ``PromiseError/timedOut(lastError:)``.
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
