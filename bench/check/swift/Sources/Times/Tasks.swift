// The same with what Swift itself has, and how a task's turns are taken here: by hand, on this thread.

import Dispatch
import Vow
import Work

/// Where a task and who resumes it meet, again and again.
protocol MeetingPlace: AnyObject, Sendable {
    func prepare()
    func fulfil(_ value: Int)
}

extension Place: MeetingPlace {
    func prepare() {}
}

nonisolated func awaiting(
    _ title: String, beside base: String = "", atMost limit: Double? = nil, _ items: Int,
    _ body: @escaping @Sendable () async -> Void
) -> Timed {
    Timed(title, beside: base, atMost: limit, items) {
        let hands = Hands()
        hands.begin(body)
        hands.work()
        precondition(hands.isOver)
    }
}

/// What is before the first turn and behind the last one is measured too, and little.
nonisolated func resuming<Meeting: MeetingPlace>(
    _ title: String, beside base: String = "", atMost limit: Double? = nil, _ items: Int,
    _ place: Meeting, _ body: @escaping @Sendable (Int, Meeting) async -> Void
) -> Timed {
    Timed(title, beside: base, atMost: limit, items, prepare: { place.prepare() }) {
        let hands = Hands()
        hands.begin { await body(items, place) }
        hands.work()
        for index in 0..<items {
            place.fulfil(index)
            hands.work()
        }
        precondition(hands.isOver)
    }
}

private let finished: Task<Int, Never> = {
    let task = Task { 1 }
    let hasEnded = DispatchSemaphore(value: 0)
    Task.detached {
        _ = await task.value
        hasEnded.signal()
    }
    hasEnded.wait()
    return task
}()

nonisolated func valueOfTask(_ times: Int) async {
    var sum = 0
    let task = finished
    for _ in 0..<times { sum &+= await task.value }
    precondition(sum == times)
}

final class ContinuationPlace: MeetingPlace, @unchecked Sendable {
    fileprivate var continuation: CheckedContinuation<Int, any Error>?
    fileprivate var sum = 0

    func prepare() {}

    func fulfil(_ value: Int) {
        let continuation = continuation.take()
        continuation?.resume(returning: value)
    }
}

nonisolated func takeContinuations(_ times: Int, in place: ContinuationPlace) async {
    for _ in 0..<times {
        place.sum &+= (try? await withCheckedThrowingContinuation { place.continuation = $0 }) ?? 0
    }
}

/// As whoever can be cancelled waits.
nonisolated func takeCancellably(_ times: Int, in place: ContinuationPlace) async {
    for _ in 0..<times {
        let value = try? await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { place.continuation = $0 }
        } onCancel: {
            place.fulfil(-1)
        }
        place.sum &+= value ?? 0
    }
}

final class UnsafePlace: MeetingPlace, @unchecked Sendable {
    fileprivate var continuation: UnsafeContinuation<Int, any Error>?
    fileprivate var sum = 0

    func prepare() {}

    func fulfil(_ value: Int) {
        let continuation = continuation.take()
        continuation?.resume(returning: value)
    }
}

nonisolated func takeUnsafely(_ times: Int, in place: UnsafePlace) async {
    for _ in 0..<times {
        place.sum &+= (try? await withUnsafeThrowingContinuation { place.continuation = $0 }) ?? 0
    }
}

/// Its promises are there before the time is taken.
final class MadePlace: MeetingPlace, @unchecked Sendable {
    private let count: Int
    fileprivate var promises: [Promise<Int, any Error>] = []
    private var resolvers: [PromiseResolver<Int, any Error>] = []
    fileprivate var sum = 0

    init(_ count: Int) { self.count = count }

    func prepare() {
        for _ in 0..<count {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            promises.append(promise)
            resolvers.append(resolver)
        }
        promises.reverse()
        resolvers.reverse()
    }

    func fulfil(_ value: Int) { resolvers.removeLast().fulfill(value) }
}

nonisolated func takeMade(_ times: Int, in place: MadePlace) async {
    for _ in 0..<times { place.sum &+= (try? await place.promises.removeLast().value) ?? 0 }
}
