// What the workloads do with tasks: all on one thread, whose turns are taken by hand.

import Vow

/// Runs jobs when it is told to, on that thread.
public final class Hands: TaskExecutor, @unchecked Sendable {
    private var jobs: [UnownedJob] = []
    public private(set) var isOver = false

    public init() { jobs.reserveCapacity(16) }

    public func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }

    public func work() {
        while let job = jobs.popLast() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Begins a task that runs here.
    public func begin(_ body: @escaping @Sendable () async -> Void) {
        Task(executorPreference: self) {
            await body()
            self.isOver = true
        }
    }
}

public func sum(_ times: Int, of settled: Promise<Int, any Error>) async -> Int {
    var sum = 0
    for _ in 0..<times { sum &+= (try? await settled.value) ?? 0 }
    return sum
}

/// Where a task and who settles what it waits for meet.
public final class Place: @unchecked Sendable {
    fileprivate var resolver: PromiseResolver<Int, any Error>?
    public fileprivate(set) var sum = 0

    public init() {}

    public func fulfil(_ value: Int) {
        guard let resolver else { fatalError("nobody waits") }
        self.resolver = nil
        precondition(resolver.fulfill(value), "it is pending")
    }
}

public func takePromises(_ times: Int, in place: Place) async {
    for _ in 0..<times {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        place.resolver = consume resolver
        place.sum &+= (try? await promise.value) ?? 0
    }
}
