// Tests of cancelling: handlers by a token, promises by themselves.

import Vow
import XCTest

private typealias Number = Promise<Int, any Error>

final class TokenTests: VowTest {
    private let calls = Journal<String>()

    func testATokenFreesHandlersOfValuesWithoutCallingThem() {
        let (promise, resolver) = Number.pending()
        let source = CancellationSource()
        let calls = calls
        let derived: Promise<Void, any Error>
        do {
            let tracker = Tracker()
            derived = promise.map(on: .inline, cancelledBy: source.token) { _ in
                withExtendedLifetime(tracker) { calls.write("called") }
            }
        }
        XCTAssertEqual(Tracker.living, 1)
        XCTAssertTrue(source.cancel())
        eventually("the handler is freed") { Tracker.living == 0 }
        XCTAssertTrue(failure(of: derived) is CancellationError)
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, [])
    }

    func testATokenCallsHandlersOfFailuresWithACancellation() {
        let (promise, resolver) = Number.pending()
        let source = CancellationSource()
        let calls = calls
        promise.onComplete(on: .inline, cancelledBy: source.token) { result in
            if case .failure(let error) = result, error is CancellationError {
                calls.write("complete")
            }
        }
        promise.onFailure(on: .inline, cancelledBy: source.token) { error in
            if error is CancellationError { calls.write("failure") }
        }
        source.cancel()
        eventually("both are told") { calls.entries == ["complete", "failure"] }
        resolver.fulfill(1)
        XCTAssertEqual(calls.entries, ["complete", "failure"])
    }

    func testATokenLeavesThePromiseAndItsOtherReadersAlone() throws {
        let (promise, resolver) = Number.pending()
        let source = CancellationSource()
        let cancelled = promise.map(cancelledBy: source.token) { $0 + 1 }
        let other = promise.map { $0 + 2 }
        source.cancel()
        XCTAssertTrue(failure(of: cancelled) is CancellationError)
        XCTAssertTrue(promise.isPending)
        resolver.fulfill(1)
        XCTAssertEqual(try other.wait(timeout: .seconds(10)), 3)
    }

    func testCancellingAfterwardsDoesNothing() throws {
        let source = CancellationSource()
        let derived = Number.value(1).map(cancelledBy: source.token) { $0 + 1 }
        XCTAssertEqual(try derived.wait(), 2)
        source.cancel()
        XCTAssertEqual(try derived.wait(), 2)
        XCTAssertFalse(derived.cancel())
    }

    func testATokenGoesToAnyNumberOfHandlersAndCancelsOnce() {
        let source = CancellationSource()
        let pending = (0..<3).map { _ in Number.pending() }
        let derived = pending.map { $0.promise.map(cancelledBy: source.token) { $0 } }
        XCTAssertFalse(source.token.isCancelled)
        XCTAssertTrue(source.cancel())
        XCTAssertFalse(source.cancel())
        XCTAssertTrue(source.token.isCancelled)
        XCTAssertThrowsError(try source.token.checkCancellation())
        for promise in derived { XCTAssertTrue(failure(of: promise) is CancellationError) }
        withExtendedLifetime(pending) {}
    }

    func testATokensHookRunsWhenItIsCancelled() {
        let source = CancellationSource()
        let calls = calls
        source.token.onCancel { calls.write("cancelled") }
        XCTAssertEqual(calls.entries, [])
        source.cancel()
        XCTAssertEqual(calls.entries, ["cancelled"])
        source.token.onCancel { calls.write("too late") }
        XCTAssertEqual(calls.entries, ["cancelled", "too late"])
    }

    func testTheTokenOfNothingNeverCancels() throws {
        XCTAssertFalse(CancellationToken.never.isCancelled)
        XCTAssertEqual(
            try Number.value(1).map(cancelledBy: CancellationToken.never) { $0 + 1 }.wait(), 2)
    }

    func testDiscardingAPromiseRejectsItAndTellsItsProducerOnce() {
        let calls = calls
        let (promise, resolver) = Number.pending()
        resolver.onCancel { calls.write("stop") }
        XCTAssertTrue(promise.cancel())
        XCTAssertTrue(failure(of: promise) is CancellationError)
        XCTAssertTrue(promise.isCancelled)
        XCTAssertFalse(promise.cancel())
        XCTAssertFalse(resolver.fulfill(1))
        XCTAssertEqual(calls.entries, ["stop"])
    }

    func testASettledPromiseIsNotDiscarded() {
        let calls = calls
        let (promise, resolver) = Number.pending()
        resolver.onCancel { calls.write("stop") }
        resolver.fulfill(1)
        XCTAssertFalse(promise.cancel())
        XCTAssertFalse(promise.isCancelled)
        XCTAssertEqual(calls.entries, [])
    }
}
