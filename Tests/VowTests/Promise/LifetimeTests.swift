// Tests who keeps whom alive: handlers are let go of when they ran, were skipped or cancelled.

import Vow
import XCTest

/// The leak that other libraries warn of: it owns a promise whose handler captures it.
private final class Owner: Sendable {
    let tracker = Tracker()
    let promise: Promise<Int, any Error>

    init(_ promise: Promise<Int, any Error>) { self.promise = promise }

    func begin() {
        promise.map(on: .inline) { _ in self.finish() }.catch(on: .inline) { _ in self.finish() }
    }

    private func finish() {}
}

final class LifetimeTests: VowTest {
    private var living = 0

    override func setUp() {
        super.setUp()
        living = Tracker.living
        // Most of the rejections here are nobody's.
        UnhandledRejections.setHandler { _ in }
    }

    override func tearDown() {
        UnhandledRejections.setHandler(nil)
        super.tearDown()
    }

    /// Attaches handlers of every kind, each of which captures a tracker.
    private func attachAll(to promise: Promise<Int, any Error>, on executor: PromiseExecutor) {
        let tracker = Tracker()
        @Sendable func keep() { withExtendedLifetime(tracker) {} }
        promise.map(on: executor) { _ in keep() }
        _ = promise.map(on: executor) { number -> Int in
            keep()
            return number
        }
        _ = promise.then(on: executor) { number -> Promise<Int, any Error> in
            keep()
            return .value(number)
        }
        _ = promise.recover(on: executor) { _ in
            keep()
            return 0
        }
        promise.catch(on: executor) { _ in keep() }
        promise.finally(on: executor) { keep() }
        promise.onSuccess(on: executor) { _ in keep() }
        promise.onFailure(on: executor) { _ in keep() }
        promise.onComplete(on: executor) { _ in keep() }
    }

    func testHandlersAreLetGoOfWhenTheyRanOrWereSkipped() {
        for executor in [PromiseExecutor.inline, .pool, .serial()] {
            for isFulfilled in [true, false] {
                let (promise, resolver) = Promise<Int, any Error>.pending()
                attachAll(to: promise, on: executor)
                XCTAssertEqual(Tracker.living, living + 1)
                _ = isFulfilled ? resolver.fulfill(1) : resolver.reject(TestError.one)
                eventually("handlers go") { Tracker.living == living }
            }
        }
    }

    func testHandlersOfABrokenPromiseAreLetGoOf() {
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            attachAll(to: promise, on: .inline)
            withExtendedLifetime(resolver) {}
        }
        eventually("handlers go") { Tracker.living == living }
    }

    func testHandlersOfACancelledPromiseAreLetGoOf() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        attachAll(to: promise, on: .inline)
        promise.cancel()
        eventually("handlers go") { Tracker.living == living }
        withExtendedLifetime(resolver) {}
    }

    func testACycleOfOwnerPromiseAndHandlerEndsAtSettling() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        Owner(promise).begin()
        XCTAssertEqual(Tracker.living, living + 1, "the pending promise keeps its handler")
        resolver.fulfill(1)
        XCTAssertEqual(Tracker.living, living)
    }

    func testAPendingPromiseIsKeptByItsProducerAndNotByItsReaders() throws {
        let calls = Journal<Int>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        _ = promise.map(on: .inline) { calls.write($0) }
        resolver.fulfill(5)
        XCTAssertEqual(calls.entries, [5])
    }

    func testAValueLivesAsLongAsItsPromise() {
        var promise: Promise<Tracker, Never>? = .value(Tracker())
        XCTAssertEqual(Tracker.living, living + 1)
        let copy = promise
        promise = nil
        XCTAssertEqual(Tracker.living, living + 1)
        _ = copy
    }

    func testAnUnwantedValueOfALateSettlingIsFreed() {
        let (promise, resolver) = Promise<Tracker, any Error>.pending()
        promise.cancel()
        XCTAssertFalse(resolver.fulfill(Tracker()))
        XCTAssertEqual(Tracker.living, living)
    }
}
