// Promises made of the elements of an asynchronous sequence, a bounded number at a time.

/// The values of the promises that a function makes of a sequence's elements, in the order of the elements.
///
/// ```swift
/// for try await page in addresses.promises(concurrency: 4, fetchPage) { … }
/// ```
///
/// An element is asked for when there is room: at most so many promises are made whose values are not yet taken. A failure, of a promise
/// or of the sequence, is thrown when its turn comes and ends the iteration. One that ends early, because the loop is left
/// or its task is cancelled, stops asking and lets go of the promises: those that nobody else reads are cancelled. In a cancelled task it throws a
/// `CancellationError`.
public struct PromisedSequence<Base: AsyncSequence & Sendable, Success: Sendable>: AsyncSequence,
    Sendable
where Base.Element: Sendable {
    public typealias Element = Success

    private let base: Base
    private let concurrency: Int
    private let transform: @Sendable (Base.Element) throws -> Promise<Success, any Error>

    fileprivate init(
        _ base: Base, _ concurrency: Int,
        _ transform: @escaping @Sendable (Base.Element) throws -> Promise<Success, any Error>
    ) {
        (self.base, self.concurrency, self.transform) = (base, concurrency, transform)
    }

    public func makeAsyncIterator() -> Iterator {
        let (base, transform) = (base, transform)
        let line = PromiseLine<Success>(room: concurrency)
        let asking = Task { await line.fill(from: base, transform) }
        return Iterator(reading: Reading(line: line, asking: asking))
    }

    /// One iteration. Several tasks that share it take turns: each element comes to one of them.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reading: Reading

        /// The next value, there or to come; nil: there is none left.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Success? {
            guard let promise = try await reading.line.first() else { return nil }
            do {
                let value = try await promise.value
                reading.line.makeRoom()
                return value
            } catch {
                reading.end()
                throw error
            }
        }
    }

    /// Whose end is the iteration's.
    fileprivate final class Reading: Sendable {
        let line: PromiseLine<Success>
        private let asking: Task<Void, Never>

        init(line: PromiseLine<Success>, asking: Task<Void, Never>) {
            (self.line, self.asking) = (line, asking)
        }

        deinit { end() }

        func end() {
            asking.cancel()
            line.end()
        }
    }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The values of the promises that `transform` makes of the elements, in their order.
    ///
    /// - Parameter concurrency: the greatest number of promises whose values are not yet taken, at least one; else the
    ///   iteration throws ``PromiseError/invalidArgument(_:)``.
    public func promises<Success, Other: Error>(
        concurrency: Int,
        _ transform: @escaping @Sendable (Element) throws -> Promise<Success, Other>
    ) -> PromisedSequence<Self, Success> {
        PromisedSequence(self, concurrency) { try transform($0).widened() }
    }
}
