// A promise's progress as an asynchronous sequence.

/// A report of the progress of a promise's work.
public struct PromiseProgress: Sendable, Hashable {
    /// From 0 to 1.
    public let fraction: Double
    public let note: String?

    public init(fraction: Double, note: String? = nil) {
        self.fraction = fraction
        self.note = note
    }
}

/// The progress of a promise's work, as often as it changes, until the promise is settled.
///
/// ```swift
/// for await progress in download.progress { bar.show(progress.fraction) }
/// ```
///
/// A late reader gets the newest progress; the progress in between is left out. Each iteration listens for itself, and
/// keeps the promise as long as it lasts; it ends when the promise is settled, or when its task is cancelled. The end
/// of the task neither cancels the promise nor handles its failure.
public struct PromiseProgressUpdates: AsyncSequence, Sendable {
    public typealias Element = PromiseProgress
    public typealias Failure = Never

    private let begin: @Sendable () -> ProgressQueue

    fileprivate init(_ begin: @escaping @Sendable () -> ProgressQueue) { self.begin = begin }

    public func makeAsyncIterator() -> Iterator { Iterator(begin()) }

    /// One iteration. Several tasks that share it take turns: each element comes to one of them.
    public struct Iterator: AsyncIteratorProtocol {
        private let listening: Listening

        fileprivate init(_ queue: ProgressQueue) { listening = Listening(queue: queue) }

        /// The newest progress not given yet, there or to come; nil: the promise is settled, or the task was
        /// cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> PromiseProgress? {
            await listening.queue.next()
        }
    }

    /// Whose end is the iteration's.
    private final class Listening: Sendable {
        let queue: ProgressQueue

        init(queue: ProgressQueue) { self.queue = queue }
        deinit { queue.end() }
    }
}

extension Promise {
    /// How far the work for this promise is, as often as that changes, until it is settled.
    public var progress: PromiseProgressUpdates {
        PromiseProgressUpdates { [self] in
            let queue = ProgressQueue()
            onProgress(on: .inline, cancelledBy: queue.ending.token) { [weak queue] in
                queue?.tell(PromiseProgress(fraction: $0, note: $1))
            }
            onSettled(on: .inline, cancelledBy: queue.ending.token) { [weak queue] in queue?.end() }
            return queue
        }
    }
}
