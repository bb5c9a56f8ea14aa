// Waiting for all promises, with the place of a failed one.

import CVow

extension Promise where Failure == any Error {
    /// As `all`, but a member's failure is a ``MemberError`` with its place.
    ///
    /// Cancelling the whole is no member's failure: a `CancellationError`.
    public static func all<Member, MemberFailure>(
        labelling promises: some Sequence<Promise<Member, MemberFailure>>
    ) -> Promise where Success == [Member] {
        let all: Promise = combined(promises, vow_all)
        return all.labelled { $0 }
    }

    /// The same of a dictionary: a ``MemberError`` with the key.
    public static func all<Key: Hashable & Sendable, Member, MemberFailure>(
        labelling promises: [Key: Promise<Member, MemberFailure>]
    ) -> Promise where Success == [Key: Member] {
        let keys = Array(promises.keys)
        let all: Promise<Void, any Error> = combined(promises.values, vow_all)
        let labelled = all.labelled { keys[$0] }
        return labelled.reread { list in
            readDictionary(of: list, keys) { try readValue($0) as Member }
        }
    }

    private func labelled<Label: Hashable & Sendable>(
        _ label: @escaping @Sendable (Int) -> Label
    ) -> Promise {
        reread(.onRejected) { error in
            let index = vow_error_index(error)
            if index < 0 { return vow_value_retain(error) }
            return encodeError(
                MemberError(label: label(Int(index)), underlying: decodeError(error)))
        }
    }
}
