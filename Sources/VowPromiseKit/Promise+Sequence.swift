// Promises of sequences: their elements instead of the whole.

import Vow

extension Vow.Promise where Success: Sequence, Failure == any Error {
    /// The promise of the results of `transform` for each element.
    public func mapValues<New: Sendable>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws -> New
    ) -> Promise<[New]> {
        map(on: executor) { try $0.map(transform) }
    }

    /// The same with any number of new elements for each.
    public func flatMapValues<New: Sequence & SendableMetatype>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws -> New
    ) -> Promise<[New.Element]> where New.Element: Sendable {
        map(on: executor) { try $0.flatMap(transform) }
    }

    /// The same with one or none.
    public func compactMapValues<New: Sendable>(
        on executor: PromiseExecutor? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws -> New?
    ) -> Promise<[New]> {
        map(on: executor) { try $0.compactMap(transform) }
    }

    /// The elements that fit.
    public func filterValues(
        on executor: PromiseExecutor? = nil,
        _ isFitting: @escaping @Sendable (Success.Element) throws -> Bool
    ) -> Promise<[Success.Element]> where Success.Element: Sendable {
        map(on: executor) { try $0.filter(isFitting) }
    }
}

extension Vow.Promise where Success: Sequence, Success.Element: Sendable, Failure == any Error {
    /// Waits for the promises that `transform` makes of the elements; their values, in the order of the elements.
    ///
    /// - Parameter concurrency: how many may be under way at once; nil: all.
    public func thenMap<New, Other: Error>(
        on executor: PromiseExecutor? = nil, concurrency: Int? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws -> Vow.Promise<New, Other>
    ) -> Promise<[New]> {
        then(on: executor) { elements in
            Promise<[New]>.map(elements, concurrency: concurrency, on: executor) {
                try transform($0)
            }
        }
    }

    /// The same with any number of new elements for each.
    public func thenFlatMap<New, Other: Error>(
        on executor: PromiseExecutor? = nil, concurrency: Int? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws -> Vow.Promise<New, Other>
    ) -> Promise<[New.Element]> where New: Sequence, New.Element: Sendable {
        thenMap(on: executor, concurrency: concurrency, transform)
            .map(on: .inline) { Array($0.joined()) }
    }

    /// The elements in order.
    public func sortedValues(
        on executor: PromiseExecutor? = nil
    ) -> Promise<[Success.Element]> where Success.Element: Comparable {
        map(on: executor) { $0.sorted() }
    }

    /// The first element that fits; without one, ``PromiseError/noSuchElement``.
    public func firstValue(
        on executor: PromiseExecutor? = nil,
        where isFitting: @escaping @Sendable (Success.Element) throws -> Bool
    ) -> Promise<Success.Element> {
        compactMap(on: executor) { try $0.first(where: isFitting) }
    }

    /// The first element; without one, ``PromiseError/noSuchElement``.
    public var firstValue: Promise<Success.Element> {
        compactMap(on: .inline) { $0.first { _ in true } }
    }

    /// The last element; without one, ``PromiseError/noSuchElement``.
    public var lastValue: Promise<Success.Element> {
        compactMap(on: .inline) { elements in
            elements.reduce(Success.Element?.none) { $1 }
        }
    }
}
