// Looking for a value among those of promises: Promise.find.

extension Promise {
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
