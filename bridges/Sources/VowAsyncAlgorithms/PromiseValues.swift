// A promise among asynchronous sequences.

public import Vow

extension Promise {
    /// The promise as a sequence of its one value, for the operators of AsyncAlgorithms.
    ///
    /// ```swift
    /// for try await page in merge(fetchPage("/a").values, fetchPage("/b").values) { … }
    /// ```
    ///
    /// A failure ends the iteration. One that ends early, because the loop is left or its task cancelled, lets go of the
    /// promise, which is cancelled where nobody else is interested.
    public var values: PromiseValues<Success, Failure> { PromiseValues(promise: self) }
}

/// The value of a promise, and then the end.
public struct PromiseValues<Success: Sendable, Failure: Error>: AsyncSequence, Sendable {
    public typealias Element = Success

    fileprivate let promise: Promise<Success, Failure>

    public func makeAsyncIterator() -> Iterator { Iterator(promise: promise) }

    /// One iteration.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var promise: Promise<Success, Failure>?

        /// The value, there or to come; then nil.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Failure) -> Success? {
            guard let promise = promise.take() else { return nil }
            return try await promise.value
        }
    }
}
