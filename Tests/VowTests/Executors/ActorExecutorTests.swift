// Tests of actors and tasks' executors as executors.

import Dispatch
import Vow
import XCTest

private actor Ledger {
    private(set) var lines: [Int] = []
    func write(_ line: Int) { lines.append(line) }
}

@MainActor private final class Screen {
    var text = ""
    nonisolated init() {}
}

/// Runs jobs on a queue of its own.
private final class QueueOfTasks: TaskExecutor {
    static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "tasks")

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

final class ActorExecutorTests: VowTest {
    func testHandlersAreIsolatedToTheActorAndRunInOrder() async {
        let ledger = Ledger()
        let executor = PromiseExecutor.actor(ledger)
        let (promise, resolver) = Promise<Void, Never>.pending(orElse: ())
        let all = (0..<1_000).map { number in
            promise.map(on: executor) { ledger.assumeIsolated { $0.write(number) } }
        }
        resolver.fulfill()
        for each in all { await each.value }
        let lines = await ledger.lines
        XCTAssertEqual(lines, Array(0..<1_000))
    }

    func testHandlersAttachedInsideStayOnTheActor() async throws {
        let ledger = Ledger()
        let promise = Promise(on: .actor(ledger)) {
            Promise<Int, Never>.value(4).map { number in
                ledger.assumeIsolated { $0.write(number) }
            }
        }
        try await promise.value
        let lines = await ledger.lines
        XCTAssertEqual(lines, [4])
    }

    func testTheMainActorsHandlersMayTouchItsState() async {
        let screen = Screen()
        await Promise<String, Never>.value("hello").map(on: .mainActor) { text in
            MainActor.assumeIsolated { screen.text = text }
        }.value
        let text = await screen.text
        XCTAssertEqual(text, "hello")
    }

    func testAnActorThatWaitsForItselfIsRefused() async {
        let executor = PromiseExecutor.actor(Ledger())
        let outer = Promise<Int, any Error>(on: executor) {
            try Promise<Int, Never>(on: executor) { 1 }.wait()
        }
        guard case .failure(PromiseError.deadlock) = await outer.settled else {
            return XCTFail("it was not refused")
        }
    }

    func testHandlersOfSeveralThreadsAllRunOnce() async throws {
        let ledger = Ledger()
        let executor = PromiseExecutor.actor(ledger)
        let all = (0..<8).flatMap { thread in
            (0..<200).map { number in
                Promise(on: .pool) {
                    Promise<Void, Never>(on: executor) {
                        ledger.assumeIsolated { $0.write(thread * 200 + number) }
                    }
                }
            }
        }
        for each in all { try await each.value }
        let lines = await ledger.lines
        XCTAssertEqual(lines.sorted(), Array(0..<1_600))
    }

    func testHandlersRunOnATasksExecutor() async {
        let executor = PromiseExecutor.task(executor: QueueOfTasks())
        let isThere = await Promise(on: executor) {
            DispatchQueue.getSpecific(key: QueueOfTasks.key)
        }.value
        XCTAssertEqual(isThere, true)
    }
}
