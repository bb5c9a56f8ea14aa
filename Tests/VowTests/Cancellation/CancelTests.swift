// Tests Promise+Cancel.swift and CancellationToken.swift.

import Dispatch
import Vow
import XCTest

final class CancelTests: VowTest {
    func testACancelledPromiseIsRejectedAtOnceAndItsProducerTold() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("stop") }
        XCTAssertTrue(promise.cancel())
        XCTAssertTrue(promise.error is CancellationError)
        XCTAssertTrue(promise.isCancelled)
        XCTAssertFalse(promise.cancel())
        XCTAssertFalse(resolver.fulfill(1))
        XCTAssertEqual(calls.entries, ["stop"])
    }

    func testCancellingTheEndOfAChainReachesItsBeginning() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        resolver.onCancel { calls.write("stop") }
        let end = chain(on: promise, calls)
        withExtendedLifetime(promise) { XCTAssertTrue(end.cancel()) }
        XCTAssertEqual(calls.entries, [], "somebody holds the beginning")
        _ = end
    }

    private func chain(on promise: Promise<Int, any Error>, _ calls: Journal<String>)
        -> Promise<Int, any Error>
    {
        promise.map { number -> Int in
            calls.write("handler")
            return number
        }.map { $0 + 1 }
    }

    func testCancellingTheOnlyReaderStopsTheWork() {
        let calls = Journal<String>()
        let kept = Journal<PromiseResolver<Int, any Error>>()
        let end = Promise<Int, any Error> { resolver in
            resolver.onCancel { calls.write("stop") }
            kept.write(resolver)
        }.map { $0 + 1 }
        XCTAssertTrue(end.cancel())
        XCTAssertEqual(calls.entries, ["stop"])
    }

    func testTheLastReaderToGoTellsTheProducer() {
        let (calls, kept) = (Journal<String>(), Journal<PromiseResolver<Int, any Error>>())
        _ = Promise<Int, any Error> { resolver in
            resolver.onCancel { calls.write("discarded") }
            kept.write(resolver)
        }
        XCTAssertEqual(calls.entries, ["discarded"])
    }

    func testASettledPromiseIsNotCancelled() {
        let promise = Promise<Int, any Error>.value(1)
        XCTAssertFalse(promise.cancel())
        XCTAssertFalse(promise.isCancelled)
        XCTAssertFalse(Promise<Int, any Error>.failure(TestError.one).isCancelled)
    }

    func testATokenUnregistersSuccessHandlersAndTellsFailureHandlers() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let source = CancellationSource()
        let calls = Journal<String>()
        let derived = promise.map(on: .inline, cancelledBy: source.token) { _ in
            calls.write("then")
        }
        promise.onSuccess(on: .inline, cancelledBy: source.token) { _ in calls.write("success") }
        promise.onFailure(on: .inline, cancelledBy: source.token) {
            calls.write("failure \($0 is CancellationError)")
        }
        XCTAssertTrue(source.cancel())
        XCTAssertFalse(source.cancel())
        XCTAssertEqual(calls.entries, ["failure true"])
        XCTAssertTrue(derived.error is CancellationError)
        XCTAssertTrue(promise.isPending, "the promise itself is left alone")
        resolver.fulfill(1)
        XCTAssertEqual(try promise.wait(), 1)
        XCTAssertEqual(calls.entries.count, 1)
    }

    func testACancelledHandlerIsFreedWithoutWaitingForThePromise() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let source = CancellationSource()
        weak let captured = attach(to: promise, source.token)
        XCTAssertNotNil(captured)
        source.cancel()
        eventually("its executor lets go of it") { captured == nil }
        resolver.fulfill(1)
    }

    private func attach(
        to promise: Promise<Int, any Error>, _ token: CancellationToken
    ) -> Tracker? {
        let tracker = Tracker()
        promise.onSuccess(cancelledBy: token) { _ in withExtendedLifetime(tracker) {} }
        return tracker
    }

    func testCancellingAfterCompletionHasNoEffect() throws {
        let source = CancellationSource()
        let derived = Promise<Int, any Error>.value(1)
            .map(on: .inline, cancelledBy: source.token) { $0 + 1 }
        source.cancel()
        XCTAssertEqual(try derived.wait(), 2)
    }

    func testCancellingAfterCompletionReachesNoObserverThatWaitsForItsExecutor() {
        let queue = DispatchQueue(label: "observers")
        queue.suspend()
        let source = CancellationSource()
        let calls = Journal<String>()
        let promise = Promise<Int, any Error>.value(1)
        promise.onComplete(on: .queue(queue), cancelledBy: source.token) { calls.write("\($0)") }
        promise.onFailure(on: .queue(queue), cancelledBy: source.token) { calls.write("\($0)") }
        promise.onSuccess(on: .queue(queue), cancelledBy: source.token) { calls.write("\($0)") }
        source.cancel()
        queue.resume()
        eventually("the observer is called") { calls.entries.count >= 1 }
        queue.sync {}
        XCTAssertEqual(calls.entries, ["success(1)"])
    }

    func testATokenTellsWhoAsks() {
        let source = CancellationSource()
        let calls = Journal<String>()
        source.token.onCancel { calls.write("told") }
        XCTAssertFalse(source.token.isCancelled)
        XCTAssertNoThrow(try source.token.checkCancellation())
        source.cancel(reason: "enough")
        source.token.onCancel { calls.write("told at once") }
        XCTAssertEqual(calls.entries, ["told", "told at once"])
        XCTAssertTrue(source.token.isCancelled)
        XCTAssertThrowsError(try source.token.checkCancellation())
        XCTAssertEqual(source.token.reason(as: String.self), "enough")
        XCTAssertNil(source.token.reason(as: Int.self))
    }

    func testALinkedSourceIsCancelledWithOneOfItsTokens() {
        let (first, second) = (CancellationSource(), CancellationSource())
        let linked = CancellationSource(linkedTo: [first.token, second.token])
        XCTAssertFalse(linked.token.isCancelled)
        second.cancel(reason: 5)
        XCTAssertTrue(linked.token.isCancelled)
        XCTAssertEqual(linked.token.reason(as: Int.self), 5)
        XCTAssertFalse(first.token.isCancelled)
    }

    func testTheTokenNeverIsNeverCancelled() throws {
        let derived = Promise<Int, any Error>.value(1).map(cancelledBy: .never) { $0 }
        XCTAssertEqual(try derived.wait(), 1)
        XCTAssertFalse(CancellationToken.never.isCancelled)
    }

    func testATokenThatIsCancelledAlreadyStopsTheHandler() {
        let source = CancellationSource()
        source.cancel()
        let derived = Promise<Int, any Error>.value(1)
            .map(on: .inline, cancelledBy: source.token) { $0 }
        XCTAssertTrue(derived.error is CancellationError)
    }
}
