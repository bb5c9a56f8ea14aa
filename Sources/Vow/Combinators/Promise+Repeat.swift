// Asynchronous loops: Promise.repeat, Promise.find.

import CVow
import VowCore

extension Promise {
    /// While `condition` holds for the state, which begins as `state`, it becomes what `step` makes of it.
    ///
    /// Takes constant memory and stack however often it runs. The value is the last state; what `step` throws is the
    /// failure. Cancelling the whole ends the loop.
    public static func `repeat`(
        from state: Success, on executor: PromiseExecutor? = nil,
        while condition: @escaping @Sendable (Success) -> Bool,
        step: @escaping @Sendable (Success) throws(Failure) -> Success
    ) -> Promise {
        repeating(state, executor, condition) { state in
            outcome { () throws(Failure) in try step(state) }
        }
    }

    /// The same with a promise that `step` makes, which is waited for.
    public static func `repeat`(
        from state: Success, on executor: PromiseExecutor? = nil,
        while condition: @escaping @Sendable (Success) -> Bool,
        step: @escaping @Sendable (Success) throws(Failure) -> Promise
    ) -> Promise {
        repeating(state, executor, condition) { state in
            outcomeOfPromise { () throws(Failure) in try step(state) }
        }
    }

    private static func repeating(
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

    /// The first value, in the order of the promises, that fits; nil if none does.
    ///
    /// Waits for each promise in turn; a failure on the way is the failure of the whole. The promises behind the one that
    /// fits are let go of.
    public static func find<Member>(
        in promises: some Sequence<Promise<Member, Failure>>, on executor: PromiseExecutor? = nil,
        where isFitting: @escaping @Sendable (Member) throws(Failure) -> Bool
    ) -> Promise where Success == Member? {
        let promises = Array(promises)
        let end = Promise<Search<Member>, Failure>.repeat(
            from: .at(0), on: .inline,
            while: { search in
                if case .at(let place) = search { place < promises.count } else { false }
            },
            step: { (search: Search<Member>) throws(Failure) -> Promise<Search<Member>, Failure> in
                guard case .at(let place) = search else { return .value(search) }
                return promises[place].map(on: executor) { value throws(Failure) in
                    try isFitting(value) ? .found(value) : .at(place + 1)
                }
            })
        return end.map(on: .inline) { search in
            if case .found(let value) = search { value } else { nil }
        }
    }
}

private enum Search<Value: Sendable>: Sendable {
    case at(Int)
    case found(Value)
}
