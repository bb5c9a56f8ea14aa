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
    // Taken less than the others, because of what calls leave out: nobody wants promises of promises.
    @_disfavoredOverload
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        joining _: Void = (), failing _: Void = (),
        _ transform: @escaping @Sendable (Item) throws(Failure) -> Member
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcome { () throws(Failure) in try transform(item) }
        }
    }

    /// The same with a promise that `transform` makes, which is waited for; its item is under way until then.
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) throws(Failure) -> Promise<Member, Failure>
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcomeOfPromise { () throws(Failure) in try transform(item) }
        }
    }

    /// The same; of a `transform` that does not throw, the failure is that of its promises.
    @_disfavoredOverload
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
    /// The same; the compiler finds this one without being told the failure.
    public static func map<Item: Sendable, Member>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Item) throws -> Promise<Member, any Error>
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcomeOfPromise { () throws in try transform(item) }
        }
    }

    /// The same with promises whose failure is of another type than what `transform` throws.
    @_disfavoredOverload
    public static func map<Item: Sendable, Member, Other: Error>(
        _ items: sending some Sequence<Item>, concurrency: Int? = nil,
        on executor: PromiseExecutor? = nil,
        joining _: Void = (),
        _ transform: @escaping @Sendable (Item) throws -> Promise<Member, Other>
    ) -> Promise where Success == [Member] {
        mapping(items, concurrency, executor) { item in
            outcomeOfPromise { () throws in try transform(item) }
        }
    }
}
