// Asynchronous loops: Promise.repeat.

import CVow
import VowCore

extension Promise {
    /// Replaces the state, which begins as `state`, by the result of `step`, while `condition` holds for it.
    ///
    /// Takes constant memory and stack however often it runs. The value is the last state; an error thrown by `step`
    /// is the failure. Cancelling the whole ends the loop.
    @_disfavoredOverload  // A closure that makes promises could make values of them.
    public static func `repeat`(
        from state: Success, on executor: PromiseExecutor? = nil,
        while condition: @escaping @Sendable (Success) -> Bool,
        step: @escaping @Sendable (Success) throws(Failure) -> Success
    ) -> Promise {
        repeating(state, executor, condition) { state in
            outcome { () throws(Failure) in try step(state) }
        }
    }

    /// The same with a promise made by `step`: the loop waits for it.
    @_disfavoredOverload  // Promises of any error have their own.
    public static func `repeat`(
        from state: Success, on executor: PromiseExecutor? = nil,
        while condition: @escaping @Sendable (Success) -> Bool,
        step: @escaping @Sendable (Success) -> Promise
    ) -> Promise {
        repeating(state, executor, condition) { step($0).cValue }
    }

    fileprivate static func repeating(
        _ state: Success, _ executor: PromiseExecutor?,
        _ condition: @escaping @Sendable (Success) -> Bool,
        _ step: @escaping @Sendable (Success) -> vow_value
    ) -> Promise {
        // A state that cannot be read goes to the step, which says so.
        let steps = Steps(
            step: { input in reading(input) { (state: Success) in step(state) } },
            isGoingOn: { decode($0, as: Success.self).map(condition) ?? true })
        return running(steps, on: executor) { caller in
            repeatWith(caller, from: encode(state), while: Steps.ask, Steps.run)
        }
    }
}

extension Promise where Failure == any Error {
    /// The same with a promise of any failure, from a `step` that may throw.
    public static func `repeat`<Other: Error>(
        from state: Success, on executor: PromiseExecutor? = nil,
        while condition: @escaping @Sendable (Success) -> Bool,
        step: @escaping @Sendable (Success) throws -> Promise<Success, Other>
    ) -> Promise {
        repeating(state, executor, condition) { state in
            outcome(followedBy: (any Error).self) { () throws in try step(state) }
        }
    }
}
