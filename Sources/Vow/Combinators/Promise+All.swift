// Waiting for all of several promises: all, zip, paired.

public import CVow

extension Promise {
    /// The values of all promises, in their order, as soon as the last value is there.
    ///
    /// The first failure, unchanged, is the failure of the whole (`all(labelling:)` names its member). The other
    /// promises are released at once, and cancelled unless they have another reader. Cancelling the whole does the same
    /// to all. Of no promises: an empty array. A promise may be in the sequence several times.
    @inlinable
    public static func all<Member>(
        _ promises: some Sequence<Promise<Member, Failure>>
    ) -> Promise where Success == [Member] {
        combined(promises, vow_all)
    }

    /// The same of an array, whose promises' failure type is inferred.
    @inlinable
    public static func all<Member>(
        _ promises: [Promise<Member, Failure>]
    ) -> Promise where Success == [Member] {
        combined(promises, vow_all)
    }

    /// The same of values and promises mixed, see ``PromiseOrValue``.
    @_disfavoredOverload  // Promises need no conversion.
    public static func all<Member: PromiseConvertible>(
        _ members: some Sequence<Member>
    ) -> Promise where Success == [Member.Success], Failure == Member.Failure {
        combined(members.lazy.map(\.promise), vow_all)
    }

    /// The values of all promises under their keys; else as of an array.
    public static func all<Key: Hashable & Sendable, Member>(
        _ promises: [Key: Promise<Member, Failure>]
    ) -> Promise where Success == [Key: Member] {
        let keys = Array(promises.keys)
        let all: Promise<Void, Failure> = combined(promises.values, vow_all)
        return all.reread { list in readDictionary(of: list, keys) { try readValue($0) as Member } }
    }

    /// The values of promises of different types, as one flat tuple; else as of an array.
    ///
    /// ```swift
    /// Promise.all(user, rights, settings).done { user, rights, settings in … }
    /// ```
    public static func all<First, Second, each Rest: Sendable>(
        _ first: Promise<First, Failure>, _ second: Promise<Second, Failure>,
        _ rest: repeat Promise<each Rest, Failure>
    ) -> Promise where Success == (First, Second, repeat each Rest) {
        var pointers = memberPointers([first.asVoid(), second.asVoid()])
        repeat pointers += memberPointers([each rest])
        let all: Promise<Void, Failure> = combined(pointers: pointers, vow_all)
        return all.reread { list in
            var items = ListReader(list: list)
            do {
                return encode(
                    (
                        try items.next(First.self), try items.next(Second.self),
                        repeat try items.next((each Rest).self)
                    ))
            } catch { return encodeError(error) }
        }
    }

    /// The values of both promises; the failure of whichever fails first.
    public func zip<Other>(
        with other: Promise<Other, Failure>
    ) -> Promise<(Success, Other), Failure> {
        .all(self, other)
    }

    /// The value together with another value that is there already.
    public func paired<Other: Sendable>(with value: Other) -> Promise<(Success, Other), Failure> {
        mapped { ($0, value) }
    }
}

/// Reads one item after the other.
private struct ListReader {
    let list: vow_value
    private var place = 0

    init(list: vow_value) { self.list = list }

    mutating func next<Value>(_: Value.Type) throws -> Value {
        defer { place += 1 }
        return try readValue(vow_list_at(list, place))
    }
}
