// What the newest promise gives, and no older one.

import Synchronization
public import Vow

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// The values of the promises that `transform` makes of the elements. With each element the promise of the one before
    /// is out of date: its value does not come any more, and it is cancelled where nobody else is interested.
    ///
    /// ```swift
    /// for try await page in queries.debounce(for: .milliseconds(300)).latest(search) { … }
    /// ```
    ///
    /// A failure of the newest promise, or of the sequence, is thrown and ends the iteration. One that ends early, because
    /// the loop is left or its task cancelled, cancels the promise under way.
    public func latest<Success, Failure>(
        _ transform: @escaping @Sendable (Element) throws -> Promise<Success, Failure>
    ) -> LatestValues<Self, Success> {
        LatestValues(base: self) { try transform($0).eraseFailure() }
    }
}

/// The values of the newest promises of a sequence's elements.
public struct LatestValues<Base: AsyncSequence & Sendable, Success: Sendable>: AsyncSequence,
    Sendable
where Base.Element: Sendable {
    public typealias Element = Success

    fileprivate let base: Base
    fileprivate let transform: @Sendable (Base.Element) throws -> Promise<Success, any Error>

    public func makeAsyncIterator() -> AsyncThrowingStream<Success, any Error>.Iterator {
        let (stream, values) = AsyncThrowingStream<Success, any Error>.makeStream()
        let asking = Task { await ask(values) }
        values.onTermination = { _ in asking.cancel() }
        return stream.makeAsyncIterator()
    }

    private func ask(_ values: AsyncThrowingStream<Success, any Error>.Continuation) async {
        let newest = Newest()
        var last: Promise<Void, any Error>?
        do {
            for try await element in base {
                let turn = newest.next()
                last?.cancel()
                last = try transform(element)
                    .done(on: .inline) { value in newest.during(turn) { values.yield(value) } }
                    .onFailure(on: .inline) { error in
                        newest.during(turn) { values.finish(throwing: error) }
                    }
            }
            try await last?.value
            values.finish()
        } catch {
            _ = newest.next()
            last?.cancel()
            values.finish(throwing: error)
        }
    }
}

/// Whose turn it is.
private final class Newest: Sendable {
    private let turn = Mutex(0)

    func next() -> Int {
        turn.withLock {
            $0 += 1
            return $0
        }
    }

    /// Calls `body`, which hands something over and runs nothing, unless a newer turn has begun.
    func during(_ mine: Int, _ body: () -> Void) {
        turn.withLock { if $0 == mine { body() } }
    }
}
