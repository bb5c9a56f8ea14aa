// A search among the values of promises: Promise.find.

import CVow
import VowCore

extension Promise {
    /// The first value, in the order of the promises, that fits; nil if no value fits.
    ///
    /// Waits for each promise in turn; a failure on the way is the failure of the whole. The promises behind the
    /// fitting one are released, and cancelled unless they have another reader. So does cancelling the whole to
    /// all.
    public static func find<Member>(
        in promises: some Sequence<Promise<Member, Failure>>, on executor: PromiseExecutor? = nil,
        where isFitting: @escaping @Sendable (Member) -> Bool
    ) -> Promise where Success == Member? {
        finding(memberPointers(promises), executor) { member throws(Failure) in
            isFitting(member)
        }
    }

    /// The same among the promises that are fulfilled: a failure on the way is passed over.
    public static func find<Member, MemberFailure>(
        fulfilledIn promises: some Sequence<Promise<Member, MemberFailure>>,
        on executor: PromiseExecutor? = nil,
        where isFitting: @escaping @Sendable (Member) throws(Failure) -> Bool
    ) -> Promise where Success == Member? {
        let members: [OpaquePointer?] = promises.map { promise in
            let member: Promise<Member?, Failure> = promise.mapped { Optional($0) }.react(
                .onRejected, on: .inline, nil,
                Recovering(Sure { (_: MemberFailure) in Member?.none }))
            return member.retainedPointer()
        }
        return Promise<Member??, Failure>.finding(members, executor) { member throws(Failure) in
            guard let member else { return false }
            return try isFitting(member)
        }
        .mapped { $0 ?? nil }
    }

    fileprivate static func finding<Member>(
        _ members: [OpaquePointer?], _ executor: PromiseExecutor?,
        _ isFitting: @escaping @Sendable (Member) throws(Failure) -> Bool
    ) -> Promise where Success == Member? {
        // A fold that ends early, which only an error does.
        let folding = Folding { _, item in
            reading(item) { (value: Member) in
                do throws(Failure) {
                    return try isFitting(value) ? found(value) : vow_none()
                } catch { return encodeError(error) }
            }
        }
        let search: Promise<Void, Failure> = running(folding, on: executor) { caller in
            reduceWith(
                caller, members, from: vow_none(), Folding.run)
        }
        return search.reread(.onBoth) { outcome in
            if outcome.kind != VOW_ERROR { return encode(Member?.none) }
            let payload = vow_error_payload(outcome)
            guard let found = payload.held(as: Found<Member>.self) else {
                return vow_value_retain(outcome)
            }
            return encode(Optional(found.value))
        }
    }
}

extension Promise where Failure == any Error {
    /// The same with a closure that may throw.
    @_disfavoredOverload  // Either would do without a throw.
    public static func find<Member>(
        in promises: some Sequence<Promise<Member, any Error>>,
        on executor: PromiseExecutor? = nil,
        where isFitting: @escaping @Sendable (Member) throws -> Bool
    ) -> Promise where Success == Member? {
        finding(memberPointers(promises), executor, isFitting)
    }
}

private struct Found<Value: Sendable>: Sendable {
    let value: Value
}

private func found<Value: Sendable>(_ value: Value) -> vow_value {
    vow_error_wrap("vow.swift", 0, "found", .holding(Found(value: value)))
}
