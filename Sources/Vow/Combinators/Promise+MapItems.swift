// A function for each of many items, so many at a time: Promise.map.

import CVow
import VowCore

extension Promise {
    /// Runs `transform` with each item and gives the results, in the order of the items.
    ///
    /// The first failure is the failure of the whole, and no further item is begun. Cancelling the whole cancels the items
    /// under way. Of no items: an empty array.
    ///
    /// `concurrency` is the greatest number of items under way at once, at least one; nil: all. A sequence that makes its
    /// items as it goes is asked for an item when there is room for it, by one thread at a time; without a bound, or if
    /// the items are there already, all are taken at once. Only in the second case the whole has a progress. `executor`
    /// runs `transform`; nil: the executor of a handler attached here.
    @_disfavoredOverload  // Promises would become an array of promises.
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) throws(Failure) -> Member
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcome { () throws(Failure) in try transform(item) }
        }
    }

    /// The same with a promise made by `transform`. Its item is under way until the promise settles.
    @_disfavoredOverload  // Promises of any error have their own.
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) -> Promise<Member, Failure>
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { transform($0).cValue }
    }

    fileprivate static func mapping<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, _ concurrency: Int?, _ executor: PromiseExecutor?,
        _ step: @escaping @Sendable (Item) -> vow_value
    ) -> Promise where Success == [Member] {
        if let concurrency, concurrency < 1 {
            return refused("map: with a concurrency of \(concurrency) nothing is ever under way")
        }
        // A sequence that makes its items as it goes is asked for an item when there is room for it.
        let areThere = items is any RandomAccessCollection && !(items is any LazySequenceProtocol)
        // The items were sent here; the question about their type has shared them with no thread.
        nonisolated(unsafe) let items = items
        if let concurrency, !areThere { return Pulling.run(items, concurrency, executor, step) }
        return mapping(all: Array(items), concurrency, executor, step)
    }

    /// The core gets the items' places.
    private static func mapping<Item: Sendable>(
        all items: [Item], _ concurrency: Int?, _ executor: PromiseExecutor?,
        _ step: @escaping @Sendable (Item) -> vow_value
    ) -> Promise {
        running(Steps(step: { step(items[Int($0.as.integer)]) }), on: executor) { caller in
            let places = items.indices.map { vow_int(Int64($0)) }
            let list = vow_list(places, places.count)
            return mapWith(caller, list, concurrency: concurrency ?? 0, Steps.run)
        }
    }
}

extension Promise where Failure == any Error {
    /// The same with promises of any failure, from a `transform` that may throw.
    public static func map<Item: Sendable, Member, Other: Error>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) throws -> Promise<Member, Other>
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcome(followedBy: (any Error).self) { () throws in try transform(item) }
        }
    }
}
