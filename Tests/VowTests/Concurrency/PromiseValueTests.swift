// Tests of awaiting promises in tasks: how a wait ends, and what cancelling the task does to the promise.

import Vow
import XCTest

/// A typed failure that takes in what the library rejects with.
private enum LoginFailure: PromiseFailure, Equatable {
    case refused, library(String)

    init(promiseError error: any Error) { self = .library("\(error)") }
}

/// One that does not.
private enum Strict: PromiseFailure {
    case wrong, lost

    init(promiseError _: any Error) { self = .lost }
}

final class PromiseValueTests: VowTest {
    func testASettledPromiseIsReadByACancelledTaskToo() async throws {
        let value = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Promise<Int, any Error>.value(3).value
        }.result
        XCTAssertEqual(try value.get(), 3)
    }

    func testAWaitEndsWithTheValueOrTheFailure() async throws {
        let (promise, resolver) = Promise<String, any Error>.pending()
        let task = Task { try await promise.value }
        resolver.fulfill("later")
        let value = try await task.value
        XCTAssertEqual(value, "later")

        let (failing, failer) = Promise<String, any Error>.pending()
        let other = Task { await failing.settled }
        failer.reject(TestError.two)
        guard case .failure(TestError.two) = await other.value else { return XCTFail("no failure") }
    }

    func testTypedFailuresStayTyped() async {
        let (promise, resolver) = Promise<Int, LoginFailure>.pending()
        let task = Task { () async -> LoginFailure? in
            do throws(LoginFailure) {
                _ = try await promise.value
                return nil
            } catch { return error }
        }
        resolver.reject(.refused)
        let failure = await task.value
        XCTAssertEqual(failure, .refused)
    }

    func testABrokenPromiseEndsTheWait() async {
        let task: Task<Int, any Error>
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            task = Task { try await promise.value }
            withExtendedLifetime(resolver) {}
        }
        guard case .failure(PromiseError.broken) = await task.result else {
            return XCTFail("it is not broken")
        }
    }

    func testACancelledPromiseEndsTheWait() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let task = Task { try await promise.value }
        promise.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
        withExtendedLifetime(resolver) {}
    }

    func testCancellingTheTaskEndsItsWaitAndLeavesASharedPromiseAlone() async throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let cancelled = Task { try await promise.value }
        let other = Task { try await promise.value }
        cancelled.cancel()
        let result = await cancelled.result
        XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
        XCTAssert(promise.isPending)
        resolver.fulfill(4)
        let value = try await other.value
        XCTAssertEqual(value, 4)
    }

    func testCancellingTheTaskOfTheLastReaderCancelsTheChain() async {
        let told = Journal<String>()
        let (start, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { told.write("producer") }
        let task = Self.awaitChain(on: consume start)
        task.cancel()
        let result = await task.result
        XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
        XCTAssertEqual(told.entries, ["producer"])
        XCTAssertFalse(resolver.fulfill(1))
    }

    private static func awaitChain(
        on start: consuming Promise<Int, any Error>
    ) -> Task<Int, any Error> {
        let chain = Guarded(Optional(start.map { $0 + 1 }))
        return Task {
            // Taken out, so that nobody else has it.
            try await chain.withLock { $0.take() }!.value
        }
    }

    func testATypedFailureStandsForTheCancellation() async {
        let (promise, resolver) = Promise<Int, LoginFailure>.pending()
        let task = Task { await promise.settled }
        task.cancel()
        guard case .failure(.library) = await task.value else { return XCTFail("not cancelled") }
        withExtendedLifetime(resolver) {}
    }

    func testAFailureThatCannotStandForTheCancellationWaitsOn() async {
        let (promise, resolver) = Promise<Int, Never>.pending(orElse: 0)
        let task = Task { await promise.value }
        task.cancel()
        resolver.fulfill(5)
        let value = await task.value
        XCTAssertEqual(value, 5)
    }

    func testCancellingValueCancelsThePromiseForAll() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let task = Task { try await promise.cancellingValue }
        let other = Task { try await promise.value }
        task.cancel()
        for result in [await task.result, await other.result] {
            XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
        }
        XCTAssert(promise.isCancelled)
        XCTAssertFalse(resolver.fulfill(1))

        let (typed, typedResolver) = Promise<Int, LoginFailure>.pending()
        let third = Task { try await typed.cancellingValue }
        third.cancel()
        guard case .failure = await third.result else { return XCTFail("not cancelled") }
        XCTAssert(typed.isCancelled)
        withExtendedLifetime(typedResolver) {}
    }

    func testATaskThatWasCancelledBeforeDoesNotWait() async {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let result = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await promise.value
        }.result
        XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
        XCTAssert(promise.isPending)
        withExtendedLifetime(resolver) {}
    }

    @MainActor
    func testAMainActorTaskGoesOnThere() async throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        DispatchQueue.global().async { resolver.fulfill(6) }
        let value = try await promise.value
        MainActor.assertIsolated()
        XCTAssertEqual(value, 6)
        let doubled = promise.map { $0 * 2 }  // Runs on the pool, and must not trap there.
        let twelve = try await doubled.value
        XCTAssertEqual(twelve, 12)
    }

    func testTenThousandRacesOfCancellingAndSettlingEndOnce() async {
        let ends = Journal<Int>()
        for round in 0..<10_000 {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            let (ready, isReady) = Promise<Void, Never>.pending(orElse: ())
            let task = Task {
                isReady.fulfill()
                do {
                    let value = try await promise.value
                    XCTAssertEqual(value, round)
                } catch { XCTAssert(error is CancellationError, "\(error)") }
                ends.write(round)
            }
            // Else before it has begun to wait.
            if round % 8 != 0 { await ready.value }
            DispatchQueue.concurrentPerform(iterations: 2) { side in
                if side == round % 2 { task.cancel() } else { resolver.fulfill(round) }
            }
            await task.value
        }
        XCTAssertEqual(ends.entries, Array(0..<10_000))
    }

    func testRacesOfCancellingBothThePromiseAndTheTaskEndOnce() async {
        for round in 0..<2_000 {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            let task = Task { try await promise.cancellingValue }
            let dropping = Task.detached { promise.cancel() }
            if round % 4 == 0 { await Task.yield() }
            task.cancel()
            let result = await task.result
            XCTAssertThrowsError(try result.get()) { XCTAssert($0 is CancellationError) }
            _ = await dropping.value
            withExtendedLifetime(resolver) {}
        }
    }
}
