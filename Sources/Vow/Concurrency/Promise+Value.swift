// Awaiting a promise in a task.

public import CVow

extension Promise {
    /// The value, awaited by a task.
    ///
    /// Cancelling the task ends the wait at once with a `CancellationError`. The promise goes on for its other readers;
    /// where this was the last one, it is cancelled as well, so that `try await fetch().then { … }.value` cancels the
    /// whole chain. To cancel the promise in any case, see `cancellingValue`. A promise that is settled already is
    /// read without suspending the task, cancelled or not.
    ///
    /// - Throws: the failure. A failure type that cannot stand for a `CancellationError` (see ``PromiseFailure``), as
    ///   `Never`, has the task wait until the promise is settled.
    nonisolated(nonsending) public var value: Success {
        @inlinable consuming get async throws(Failure) {
            if let result { return try result.get() }
            return try await pendingResult().get()
        }
    }

    /// The value or the failure, awaited by a task, as `value` is.
    nonisolated(nonsending) public var settled: Result<Success, Failure> {
        @inlinable consuming get async {
            if let result { return result }
            return await pendingResult()
        }
    }

    /// From here on only a link reads the promise: the cancelled wait cancels it unless it has other readers.
    @inlinable
    nonisolated(nonsending) consuming func pendingResult() async -> Result<Success, Failure> {
        let promise = takePointer()
        let outcome =
            Self.isCancellable
            ? await outcomeUnlessCancelled(of: promise, isolation: #isolation)
            : await Vow.outcome(of: promise, isolation: #isolation)
        if let result: Result<Success, Failure> = takeResult(outcome) { return result }
        nothingToReturn(outcome, Failure.self)
    }

    nonisolated(nonsending) fileprivate func resultCancellingIt() async -> Result<Success, Failure>
    {
        if let result { return result }
        // The cancellation has this reference; the wait's link has another.
        nonisolated(unsafe) let promise = retainedPointer()
        let outcome = await withTaskCancellationHandler {
            await Vow.outcome(of: retainedPointer(), isolation: nil)
        } onCancel: {
            _ = vow_cancel(promise)
        }
        vow_promise_release(promise)
        if let result: Result<Success, Failure> = takeResult(outcome) { return result }
        nothingToReturn(outcome, Failure.self)
    }
}

extension Promise where Failure == Never {
    /// The value, awaited by a task. It cannot be refused, so that cancelling the task does not end the wait.
    nonisolated(nonsending) public var value: Success {
        // The compiler of Swift 6.3 crashes where a getter that throws(Never) is called without `try`.
        @inlinable consuming get async {
            if let result { return result.get() }
            return await pendingResult().get()
        }
    }
}

extension Promise where Failure == any Error {
    /// The value, awaited by a task; cancelling the task cancels the promise itself, for all of its readers.
    nonisolated(nonsending) public var cancellingValue: Success {
        get async throws { try await resultCancellingIt().get() }
    }
}

extension Promise where Failure: PromiseFailure {
    /// The value, awaited by a task; cancelling the task cancels the promise itself, for all of its readers.
    nonisolated(nonsending) public var cancellingValue: Success {
        get async throws(Failure) { try await resultCancellingIt().get() }
    }
}

/// The result of a wait's outcome, which is then released. Nil: the failure type has no case for the error; no release.
@inlinable
func takeResult<Success, Failure: Error>(_ outcome: vow_value) -> Result<Success, Failure>? {
    guard let result: Result<Success, Failure> = readResult(outcome) else { return nil }
    vow_value_release(outcome)
    return result
}

/// The producer has broken the promise's failure type: the promise cannot be rejected with this error, and the reader gets
/// neither a value nor a failure.
///
/// - Parameter outcome: owned.
@usableFromInline
func nothingToReturn<Failure: Error>(_ outcome: vow_value, _: Failure.Type) -> Never {
    fatalError(
        "a promise with failures of type \(Failure.self) was rejected with \(decodeError(outcome)), which that type "
            + "cannot stand for")
}
