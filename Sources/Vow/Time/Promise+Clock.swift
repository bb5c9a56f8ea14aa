// Times by a clock of Swift's: delay, timeout, retry.
//
// A clock says how a task sleeps by it, so these sleep in a task, which is cancelled with the promise. The functions
// without a clock need no task.

extension Promise where Success == Void, Failure == any Error {
    /// A promise that is fulfilled when so much of the clock's time has passed: of a `ContinuousClock`, which goes on while
    /// the machine sleeps, of a `SuspendingClock`, or of a clock that a test moves.
    ///
    /// - Parameter tolerance: the greatest lateness; nil: the clock's default.
    public static func delay<C: Clock>(
        _ duration: C.Duration, tolerance: C.Duration? = nil, clock: C
    ) -> Promise {
        Promise { try await clock.sleep(for: duration, tolerance: tolerance) }
    }
}

extension Promise where Failure == any Error {
    /// The same value, so much later by that clock; a failure passes at once.
    public func delay<C: Clock>(
        _ duration: C.Duration, tolerance: C.Duration? = nil, clock: C,
        cancelledBy token: CancellationToken? = nil
    ) -> Promise {
        then(on: .inline, cancelledBy: token) { value in
            Promise<Void, any Error>.delay(duration, tolerance: tolerance, clock: clock)
                .map(on: .inline) { value }
        }
    }

    /// A promise that settles as this promise does, if within this time of that clock; else it is rejected with
    /// ``PromiseError/timedOut(lastError:)``, and this promise is cancelled unless it has another reader.
    public func timeout<C: Clock>(
        _ duration: C.Duration, tolerance: C.Duration? = nil, clock: C
    ) -> Promise {
        .race(
            self,
            .tooLate(duration, tolerance: tolerance, clock: clock) { PromiseError.timedOut })
    }

    /// Rejected when the time is over. No link of a delay: a link goes on, with the delay, where its reader goes at the
    /// moment of the race's decision.
    static func tooLate<C: Clock>(
        _ duration: C.Duration, tolerance: C.Duration? = nil, clock: C,
        _ failure: @escaping @Sendable () -> PromiseError
    ) -> Promise {
        Promise { () async throws -> Success in
            try await clock.sleep(for: duration, tolerance: tolerance)
            throw failure()
        }
    }
}
