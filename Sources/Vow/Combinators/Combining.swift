// The common part of this directory's combinators: they hand over promises and read the results.

import CVow
import VowCore

/// Makes one promise of many by a function of the core, which consumes a reference to each.
@inlinable
func combined<Success, Failure, NewSuccess, NewFailure>(
    _ promises: some Sequence<Promise<Success, Failure>>,
    _ combinator: (UnsafePointer<OpaquePointer?>?, Int) -> OpaquePointer
) -> Promise<NewSuccess, NewFailure> {
    combined(pointers: memberPointers(promises), combinator)
}

/// The promises with one more reference each, owned by the caller, for a combinator to release. A combinator cancels the
/// promises that it releases, so promises whose failure type has no case for a cancellation are shielded.
@inlinable
func memberPointers<Success, Failure>(
    _ promises: some Sequence<Promise<Success, Failure>>
) -> [OpaquePointer?] {
    let areCancellable = Promise<Success, Failure>.isCancellable
    return promises.map {
        areCancellable ? $0.retainedPointer() : vow_shield($0.retainedPointer())
    }
}

@inlinable
func combined<NewSuccess, NewFailure>(
    pointers: [OpaquePointer?],
    _ combinator: (UnsafePointer<OpaquePointer?>?, Int) -> OpaquePointer
) -> Promise<NewSuccess, NewFailure> {
    let promise = pointers.withUnsafeBufferPointer { combinator($0.baseAddress, $0.count) }
    return Promise(owned: promise)
}

extension Promise {
    /// Makes another value of this promise's value, as C has it. No program's function runs for it, so it is done at once.
    func reread<NewSuccess, NewFailure>(
        _ kind: ReactionKind = .onFulfilled, _ body: @escaping @Sendable (vow_value) -> vow_value
    ) -> Promise<NewSuccess, NewFailure> {
        react(kind, on: .inline, nil, Rereading(body: body))
    }
}

private struct Rereading: Reactor {
    let body: @Sendable (vow_value) -> vow_value

    func react(to input: vow_value) -> vow_value { body(input) }
}

/// The dictionary of these keys and the items of a list (borrowed), or a rejection.
func readDictionary<Key: Hashable & Sendable, Value>(
    of list: vow_value, _ keys: [Key], _ read: (vow_value) throws -> Value
) -> vow_value {
    var values: [Key: Value] = [:]
    values.reserveCapacity(keys.count)
    do {
        for (index, key) in keys.enumerated() {
            values[key] = try read(vow_list_at(list, index))
        }
    } catch { return encodeError(error) }
    return encode(values)
}

/// An item of a list (borrowed) as a value.
func readValue<Value>(_ item: vow_value) throws -> Value {
    guard let value = decode(item, as: Value.self) else { throw unexpected(item, Value.self) }
    return value
}
