// Trying again: retry.

import CVow
import VowCore

extension Promise {
    /// Calls `body`, which makes a promise, with the number of the attempt, from 1, until it does not fail.
    ///
    /// The failure is the last one, when the policy gives up; or ``PromiseError/timedOut(lastError:)`` at its deadline,
    /// which cancels the attempt under way. A number in the policy that makes no sense:
    /// ``PromiseError/invalidArgument(_:)``. Cancelling the whole cancels the attempt or the delay under way.
    ///
    /// `executor` runs `body` and the policy's closure; on an event loop's executor, its clock counts.
    @_disfavoredOverload  // Promises of any error have their own.
    public static func retry(
        _ policy: RetryPolicy = RetryPolicy(), on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (_ attempt: Int) -> Promise
    ) -> Promise {
        retrying(policy, executor) { body($0).cValue }
    }

    /// The same with a value returned by `body`.
    @_disfavoredOverload  // A closure that makes promises could make values of them.
    public static func retry(
        _ policy: RetryPolicy = RetryPolicy(), on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (_ attempt: Int) throws(Failure) -> Success
    ) -> Promise {
        retrying(policy, executor) { attempt in
            outcome { () throws(Failure) in try body(attempt) }
        }
    }

    static func retrying(
        _ policy: RetryPolicy, _ executor: PromiseExecutor?,
        _ body: @escaping @Sendable (Int) -> vow_value
    ) -> Promise {
        let problem = "retry: policy has a number out of range"
        guard var cPolicy = policy.cPolicy else { return refused(problem) }
        var steps = Steps(step: { body(Int($0.as.integer)) })
        if let mayRetry = policy.mayRetry {
            steps.isGoingOn = { mayRetry(decodeError($0)) }
            cPolicy.may_retry = Steps.ask
        }
        return running(steps, on: executor) { caller in
            guard let promise = retryWith(caller, cPolicy, Steps.run) else {
                caller.giveUp()
                return refused(problem).retainedPointer()
            }
            return promise
        }
    }
}

extension Promise where Failure == any Error {
    /// The same with a promise of any failure, from a `body` that may throw.
    public static func retry<Other: Error>(
        _ policy: RetryPolicy = RetryPolicy(), on executor: PromiseExecutor? = nil,
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Promise<Success, Other>
    ) -> Promise {
        retrying(policy, executor) { attempt in
            outcome(followedBy: (any Error).self) { () throws in try body(attempt) }
        }
    }
}
