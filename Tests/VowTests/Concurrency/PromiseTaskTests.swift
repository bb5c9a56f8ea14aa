// Tests of promises that tasks work for: what they come to, and how cancelling reaches the task.

import Synchronization
import Vow
import XCTest

private enum LoginError: PromiseFailure, Equatable {
    case refused, lost

    init(promiseError _: any Error) { self = .lost }
}

private func three() async -> Int { 3 }
private func refuse() async throws(LoginError) -> Int { throw .refused }

private actor Counter {
    var count = 0

    func promiseOfNext() -> Promise<Int, any Error> {
        // Isolated to this actor, as in `Task { … }`.
        Promise {
            self.count += 1
            if self.count < 0 { throw LoginError.refused }
            return self.count
        }
    }
}

final class PromiseTaskTests: VowTest {
    func testThePromiseGetsWhatTheOperationReturnsOrThrows() async throws {
        let sure = Promise { await three() }
        let value = await sure.value
        XCTAssertEqual(value, 3)
        let failing = Promise { try await refuse() }
        guard case .failure(LoginError.refused) = await failing.settled else {
            return XCTFail("it was not rejected")
        }
        let typed = Promise<Int, LoginError> { () async throws(LoginError) in try await refuse() }
        guard case .failure(.refused) = await typed.settled else { return XCTFail("not rejected") }
        let named = Promise(name: "three", priority: .high) { await three() }
        let again = await named.value
        XCTAssertEqual(again, 3)
    }

    func testTheShapesOfPromiseInitialisersLiveTogether() async throws {
        let withResolver = Promise<Int, any Error> { resolver in resolver.fulfill(1) }
        let short = Promise<Int, any Error> { $0.fulfill(2) }
        let task = Promise<Int, any Error> { await three() }
        let onPool = Promise(on: .pool) { 4 }
        let sum =
            try await withResolver.value + short.value + task.value + onPool.value
        XCTAssertEqual(sum, 10)
        let nothing = Promise { _ = await three() }
        await nothing.value
    }

    func testTheOperationIsIsolatedToTheActorThatMadeIt() async throws {
        let counter = Counter()
        let next = try await counter.promiseOfNext().value
        XCTAssertEqual(next, 1)
    }

    func testCancellingThePromiseCancelsTheTask() async throws {
        let (seen, resolver) = Promise<Bool, any Error>.pending()
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        let promise = Promise {
            await gate.value
            resolver.fulfill(Task.isCancelled)
            try Task.checkCancellation()
        }
        promise.cancel()
        XCTAssert(promise.isCancelled)
        opener.fulfill()
        let isCancelled = try await seen.value
        XCTAssert(isCancelled)
    }

    func testLettingTheLastReaderGoCancelsTheTask() async throws {
        let (seen, resolver) = Promise<Bool, any Error>.pending()
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        do {
            _ = Promise {
                await gate.value
                resolver.fulfill(Task.isCancelled)
            }
        }
        opener.fulfill()
        let isCancelled = try await seen.value
        XCTAssert(isCancelled)
    }

    func testCancellingATaskReachesTheTaskBehindThePromise() async throws {
        let (seen, resolver) = Promise<Bool, any Error>.pending()
        let task = Task {
            try await Promise {
                let (never, open) = Promise<Int, any Error>.pending()
                defer { withExtendedLifetime(open) {} }
                do { return try await never.value } catch {
                    resolver.fulfill(Task.isCancelled)
                    throw error
                }
            }.map { $0 + 1 }.value
        }
        await Task.yield()
        task.cancel()
        let isCancelled = try await seen.value
        XCTAssert(isCancelled)
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
    }

    func testAPromiseOfATaskFollowsItAndLeavesItToItsOwner() async throws {
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        let task = Task { () async throws -> Int in
            await gate.value
            try Task.checkCancellation()
            return 8
        }
        let promise = Promise(task)
        let other = Promise(task)
        promise.cancel()
        opener.fulfill()
        let value = try await other.value
        XCTAssertEqual(value, 8)
        let sure: Promise<Int, Never> = Promise(Task { await three() })
        let sureValue = await sure.value
        XCTAssertEqual(sureValue, 3)
    }

    func testAPromiseThatOwnsATaskCancelsIt() async throws {
        let (gate, opener) = Promise<Void, Never>.pending(orElse: ())
        let task = Task { () async throws -> Int in
            await gate.value
            try Task.checkCancellation()
            return 8
        }
        Promise(task, cancelsTask: true).cancel()
        XCTAssert(task.isCancelled)
        opener.fulfill()
        guard case .failure = await task.result else { return XCTFail("it was not cancelled") }
    }

    func testTheOperationLetsGoOfWhatItCaptured() async throws {
        let before = Tracker.living
        let promise = Promise { [tracker = Tracker()] in withExtendedLifetime(tracker) { 1 } }
        let value = await promise.value
        XCTAssertEqual(value, 1)
        eventually("the tracker goes") { Tracker.living == before }
    }
}
