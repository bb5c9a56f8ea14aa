// Promises of sequences: their elements instead of the whole.

extension Promise where Success: Sequence {
    /// The promise of what `transform` makes of each element.
    public func mapValues<New: Sendable>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> New
    ) -> Promise<[New], Failure> {
        map(on: executor, cancelledBy: token) { elements throws(Failure) in
            try elements.map(transform)
        }
    }

    /// The same with any number of new elements for each.
    public func flatMapValues<New: Sequence & SendableMetatype>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> New
    ) -> Promise<[New.Element], Failure> where New.Element: Sendable {
        collect(executor, token) { element, new throws(Failure) in
            new.append(contentsOf: try transform(element))
        }
    }

    /// The same with one or none.
    public func compactMapValues<New: Sendable>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> New?
    ) -> Promise<[New], Failure> {
        collect(executor, token) { element, new throws(Failure) in
            if let made = try transform(element) { new.append(made) }
        }
    }

    /// The elements that fit.
    public func filterValues(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        _ isFitting: @escaping @Sendable (Success.Element) throws(Failure) -> Bool
    ) -> Promise<[Success.Element], Failure> where Success.Element: Sendable {
        collect(executor, token) { element, new throws(Failure) in
            if try isFitting(element) { new.append(element) }
        }
    }

    private func collect<New: Sendable>(
        _ executor: PromiseExecutor?, _ token: CancellationToken?,
        _ add: @escaping @Sendable (Success.Element, inout [New]) throws(Failure) -> Void
    ) -> Promise<[New], Failure> {
        map(on: executor, cancelledBy: token) { elements throws(Failure) in
            var new: [New] = []
            for element in elements { try add(element, &new) }
            return new
        }
    }
}

extension Promise where Success: Sequence, Success.Element: Sendable {
    /// Waits for the promises that `transform` makes of the elements; their values, in the order of the elements.
    ///
    /// - Parameter concurrency: how many may be under way at once; nil: all.
    public func thenMap<New>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        concurrency: Int? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> Promise<New, Failure>
    ) -> Promise<[New], Failure> {
        flatMap(on: executor, cancelledBy: token) { elements in
            .map(elements, concurrency: concurrency, on: executor, transform)
        }
    }

    /// The same with promises whose failure is of another type.
    @_disfavoredOverload
    public func thenMap<New, Other: Error>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        concurrency: Int? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> Promise<New, Other>
    ) -> Promise<[New], any Error> {
        eraseFailure().thenMap(on: executor, cancelledBy: token, concurrency: concurrency) {
            try transform($0).eraseFailure()
        }
    }

    /// The same with any number of new elements for each.
    public func thenFlatMap<New: Sequence>(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        concurrency: Int? = nil,
        _ transform: @escaping @Sendable (Success.Element) throws(Failure) -> Promise<New, Failure>
    ) -> Promise<[New.Element], Failure> where New.Element: Sendable {
        thenMap(on: executor, cancelledBy: token, concurrency: concurrency, transform)
            .map(on: .inline) { Array($0.joined()) }
    }

    /// The elements in order.
    public func sortedValues(
        on executor: PromiseExecutor? = nil
    ) -> Promise<[Success.Element], Failure> where Success.Element: Comparable {
        map(on: executor) { $0.sorted() }
    }
}

extension Promise where Success: Sequence, Success.Element: Sendable, Failure == any Error {
    /// The first element that fits; without one, ``PromiseError/noSuchElement``.
    public func firstValue(
        on executor: PromiseExecutor? = nil, cancelledBy token: CancellationToken? = nil,
        where isFitting: @escaping @Sendable (Success.Element) throws -> Bool
    ) -> Promise<Success.Element, any Error> {
        compactMap(on: executor, cancelledBy: token) { try $0.first(where: isFitting) }
    }

    /// The first element; without one, ``PromiseError/noSuchElement``.
    public var firstValue: Promise<Success.Element, any Error> {
        compactMap(on: .inline) { $0.first { _ in true } }
    }

    /// The last element; without one, ``PromiseError/noSuchElement``.
    public var lastValue: Promise<Success.Element, any Error> {
        compactMap(on: .inline) { elements in
            elements.reduce(Success.Element?.none) { $1 }
        }
    }
}
