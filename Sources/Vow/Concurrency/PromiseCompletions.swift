// Promises as an asynchronous sequence, in the order in which they settle.

import CVow

/// The results of several promises, each with the place of its promise, in the order in which they come.
///
/// ```swift
/// for await (index, result) in Promise.completions(of: requests) { … }
/// ```
///
/// Each iteration reads all of them. One that ends early, because the loop is left or its task is cancelled, lets go of
/// the promises that are still pending: those that nobody else reads are cancelled.
public struct PromiseCompletions<Success: Sendable, MemberFailure: Error>: AsyncSequence, Sendable {
    public typealias Element = (index: Int, result: Result<Success, MemberFailure>)
    public typealias Failure = Never

    private let promises: [Promise<Success, MemberFailure>]

    init(_ promises: [Promise<Success, MemberFailure>]) { self.promises = promises }

    public consuming func makeAsyncIterator() -> Iterator { Iterator(promises) }

    /// One iteration. Several tasks that share it take turns: each element comes to one of them.
    public struct Iterator: AsyncIteratorProtocol {
        private let reading: Reading

        fileprivate init(_ promises: [Promise<Success, MemberFailure>]) {
            reading = Reading(CompletionQueue(of: promises))
        }

        /// The next result that is there or comes, and that the failure type has a case for; nil: the end, or the task was
        /// cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> Element? {
            while let completion = await reading.queue.next() {
                defer { vow_value_release(completion.outcome) }
                if let result: Result<Success, MemberFailure> = readResult(completion.outcome) {
                    return (completion.index, result)
                }
            }
            return nil
        }
    }

    /// Whose end is the iteration's.
    private final class Reading: Sendable {
        let queue: CompletionQueue

        init(_ queue: CompletionQueue) { self.queue = queue }
        deinit { queue.letGo() }
    }
}

extension Promise {
    /// The results of `promises` in the order in which they come.
    public static func completions(
        of promises: some Sequence<Promise>
    ) -> PromiseCompletions<Success, Failure> {
        PromiseCompletions(Array(promises))
    }
}

extension Sequence where Element: PromiseConvertible {
    /// The results of these promises in the order in which they come.
    public var completions: PromiseCompletions<Element.Success, Element.Failure> {
        PromiseCompletions(map(\.promise))
    }
}
