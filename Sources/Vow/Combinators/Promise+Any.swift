// The first to be fulfilled: any, some.

import CVow

extension Promise where Failure == any Error {
    /// The first value of any promise.
    ///
    /// Failures count only when all promises have failed: then an ``AggregateError`` of all failures, also of no
    /// promises. Then the other promises are released at once, and cancelled unless they have another reader.
    public static func any<MemberFailure>(
        _ promises: some Sequence<Promise<Success, MemberFailure>>
    ) -> Promise {
        combined(promises, vow_any)
    }

    /// The same of promises that are written out.
    public static func any<MemberFailure>(
        _ first: Promise<Success, MemberFailure>, _ others: Promise<Success, MemberFailure>...
    ) -> Promise {
        any([first] + others)
    }

    /// The values of the first so many promises that are fulfilled, in the order of the promises.
    ///
    /// As soon as there cannot be so many any more: an ``AggregateError`` of the failures so far. Else as
    /// ``any(_:)``. None wanted: an empty array.
    public static func some<Member, MemberFailure>(
        _ wanted: Int, of promises: some Sequence<Promise<Member, MemberFailure>>
    ) -> Promise where Success == [Member] {
        combined(promises) { vow_some($0, $1, max(wanted, 0)) }
    }
}
