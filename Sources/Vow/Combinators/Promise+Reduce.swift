// Folding the values of promises, in their order: Promise.reduce.

import CVow
import VowCore

extension Promise {
    /// Waits for each promise in turn and combines its value with the accumulated result. Of no promises: `initial`.
    ///
    /// The work behind the promises goes on side by side; only `combine` is called in order. The first failure in that
    /// order is the failure of the whole, and the promises behind it are released.
    public static func reduce<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>, _ initial: Success,
        on executor: PromiseExecutor? = nil,
        _ combine: @escaping @Sendable (Success, Member) -> Success
    ) -> Promise {
        folding(promises, initial, executor) { encode(combine($0, $1)) }
    }

    /// The same with a promise made by `combine`: the whole waits for it.
    @_disfavoredOverload  // Promises of any error have their own.
    public static func reduce<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>, _ initial: Success,
        on executor: PromiseExecutor? = nil,
        _ combine: @escaping @Sendable (Success, Member) -> Promise
    ) -> Promise {
        folding(promises, initial, executor) { combine($0, $1).cValue }
    }

    /// The same, changing the accumulated result in place.
    public static func reduce<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>, into initial: Success,
        on executor: PromiseExecutor? = nil,
        _ update: @escaping @Sendable (inout Success, Member) -> Void
    ) -> Promise {
        updating(promises, initial, executor) { value, member throws(Failure) in
            update(&value, member)
        }
    }

    fileprivate static func updating<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>, _ initial: Success,
        _ executor: PromiseExecutor?,
        _ update: @escaping @Sendable (inout Success, Member) throws(Failure) -> Void
    ) -> Promise {
        let pointers: [OpaquePointer?] = memberPointers(promises)
        let accumulator = Accumulator(initial, left: pointers.count)
        let folding = Folding { _, item in
            reading(item) { (item: Member) in
                do throws(Failure) { try update(&accumulator.value, item) } catch {
                    return encodeError(error)
                }
                accumulator.left -= 1
                return accumulator.left == 0 ? encode(accumulator.value) : vow_none()
            }
        }
        return running(folding, on: executor) { caller in
            let start = pointers.isEmpty ? encode(initial) : vow_none()
            return reduceWith(caller, pointers, from: start, Folding.run)
        }
    }

    fileprivate static func folding<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>, _ initial: Success,
        _ executor: PromiseExecutor?,
        _ combine: @escaping @Sendable (Success, Member) -> vow_value
    ) -> Promise {
        let folding = Folding { accumulated, item in
            reading(accumulated) { (accumulated: Success) in
                reading(item) { (item: Member) in combine(accumulated, item) }
            }
        }
        return running(folding, on: executor) { caller in
            reduceWith(
                caller, memberPointers(promises), from: encode(initial), Folding.run)
        }
    }
}

extension Promise where Failure == any Error {
    /// The same with a closure that may throw.
    @_disfavoredOverload  // Either would do without a throw.
    public static func reduce<Member>(
        _ promises: some Sequence<Promise<Member, any Error>>, _ initial: Success,
        on executor: PromiseExecutor? = nil,
        _ combine: @escaping @Sendable (Success, Member) throws -> Success
    ) -> Promise {
        folding(promises, initial, executor) { accumulated, item in
            outcome { () throws in try combine(accumulated, item) }
        }
    }

    /// The same with a promise of any failure.
    public static func reduce<Member, Other: Error>(
        _ promises: some Sequence<Promise<Member, any Error>>, _ initial: Success,
        on executor: PromiseExecutor? = nil,
        _ combine: @escaping @Sendable (Success, Member) throws -> Promise<Success, Other>
    ) -> Promise {
        folding(promises, initial, executor) { accumulated, item in
            outcome(followedBy: (any Error).self) { () throws in try combine(accumulated, item) }
        }
    }

    /// The same, changing the accumulated result in place.
    @_disfavoredOverload
    public static func reduce<Member>(
        _ promises: some Sequence<Promise<Member, any Error>>, into initial: Success,
        on executor: PromiseExecutor? = nil,
        _ update: @escaping @Sendable (inout Success, Member) throws -> Void
    ) -> Promise {
        updating(promises, initial, executor, update)
    }
}

/// Unchecked: the calls of one fold come one after the other, each with the result of the call before.
private final class Accumulator<Value: Sendable>: @unchecked Sendable {
    var value: Value
    var left: Int

    init(_ value: Value, left: Int) {
        self.value = value
        self.left = left
    }
}
