// Waiting until all are settled, however.

import CVow

extension Promise where Failure == Never {
    /// The results of all promises, in their order, as soon as the last is there. Of no promises: an empty array.
    public static func allSettled<Member, MemberFailure>(
        _ promises: some Sequence<Promise<Member, MemberFailure>>
    ) -> Promise where Success == [Result<Member, MemberFailure>] {
        let settled: Promise<Void, Never> = combined(promises, vow_all_settled)
        return settled.reread { list in
            var results: [Result<Member, MemberFailure>] = []
            results.reserveCapacity(vow_list_count(list))
            do {
                for index in 0..<vow_list_count(list) {
                    results.append(try readMember(vow_list_at(list, index)))
                }
            } catch { return encodeError(error) }
            return encode(results)
        }
    }

    /// The same under their keys.
    public static func allSettled<Key: Hashable & Sendable, Member, MemberFailure>(
        _ promises: [Key: Promise<Member, MemberFailure>]
    ) -> Promise where Success == [Key: Result<Member, MemberFailure>] {
        let keys = Array(promises.keys)
        let settled: Promise<Void, Never> = combined(promises.values, vow_all_settled)
        return settled.reread { list in
            readDictionary(of: list, keys) { try readMember($0) as Result<Member, MemberFailure> }
        }
    }
}

/// An item of the list. An error is a failure, because no value travels as an error. A failure that its type has no
/// case for is thrown: as everywhere, it passes by handlers that cannot take it.
private func readMember<Success, Failure: Error>(
    _ item: vow_value
) throws -> Result<Success, Failure> {
    if item.kind != VOW_ERROR { return .success(try readValue(item)) }
    guard let failure = decodeFailure(item, as: Failure.self) else { throw decodeError(item) }
    return .failure(failure)
}
