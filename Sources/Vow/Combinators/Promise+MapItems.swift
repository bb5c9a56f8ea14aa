// A function for each of many items, so many at a time: Promise.map.

import CVow
import VowCore

extension Promise {
    /// Runs `transform` with each item and gives the results, in the order of the items.
    ///
    /// The first failure is the failure of the whole, and no further item is begun. Cancelling the whole cancels what
    /// is under way. Of no items: an empty array.
    ///
    /// `concurrency` is how many items may be under way at once, at least one; nil: all. Items that a sequence makes as it
    /// goes are asked for when there is room for them, one thread at a time; without a bound, and where the items are
    /// there already, all are taken at once. Of the former there is no progress to tell. `executor` runs `transform`;
    /// nil: the one that a handler attached here would get.
    @_disfavoredOverload  // Of promises: it would be an array of promises.
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) throws(Failure) -> Member
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcome { () throws(Failure) in try transform(item) }
        }
    }

    /// The same with a promise that `transform` makes, which is waited for; its item is under way until then.
    @_disfavoredOverload  // Of promises of any error.
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
        // What makes its items as it goes is asked for one when there is room for it.
        let areThere = items is any RandomAccessCollection && !(items is any LazySequenceProtocol)
        // They were sent here; asking what they are has not given them to anybody.
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
