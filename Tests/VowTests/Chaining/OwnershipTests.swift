// Tests of who keeps whom alive.

import Synchronization
import Vow
import XCTest

private typealias Number = Promise<Int, any Error>

final class OwnershipTests: VowTest {
    /// An owner of a promise whose handler captures the owner.
    private final class Owner: Sendable {
        private let tracker = Tracker()
        let promise: Number
        let total = Mutex(0)

        init(_ promise: Number) { self.promise = promise }

        func begin() {
            promise.done(on: .inline) { number in self.total.withLock { $0 += number } }
        }
    }

    func testTheCycleOfOwnerPromiseAndHandlerEndsWhenItSettles() {
        let (promise, resolver) = Number.pending()
        do { Owner(promise).begin() }
        XCTAssertEqual(Tracker.living, 1)
        resolver.fulfill(1)
        eventually("the owner is freed") { Tracker.living == 0 }
    }

    func testAHandlerIsFreedOnceItHasRun() throws {
        let promise: Promise<Int, any Error>
        let (first, resolver) = Number.pending()
        do {
            let tracker = Tracker()
            promise = first.map { number in withExtendedLifetime(tracker) { number } }
        }
        XCTAssertEqual(Tracker.living, 1)
        resolver.fulfill(1)
        XCTAssertEqual(try promise.wait(timeout: .seconds(10)), 1)
        eventually("the handler is freed") { Tracker.living == 0 }
    }

    func testAHandlerThatIsPassedOverIsFreed() {
        let (promise, resolver) = Number.pending()
        let ended: Promise<Void, Never>
        do {
            let tracker = Tracker()
            ended = promise.done { _ in withExtendedLifetime(tracker) {} }.catch { _ in }
        }
        resolver.reject(TestError.one)
        XCTAssertNoThrow(try ended.wait(timeout: .seconds(10)))
        eventually("the handler is freed") { Tracker.living == 0 }
    }

    func testAPendingChainIsKeptByItsProducer() {
        let calls = Journal<Int>()
        let producer: Resolver<Int, any Error>
        do {
            let (promise, resolver) = Number.pending()
            promise.map { $0 + 1 }.done { calls.write($0) }
            producer = resolver
        }
        producer.fulfill(1)
        eventually("the end of the chain is called") { calls.entries == [2] }
    }

    func testAChainGoesWithItsProducer() {
        do {
            let tracker = Tracker()
            let (promise, resolver) = Number.pending()
            promise.done { _ in withExtendedLifetime(tracker) {} }.catch { _ in }
            withExtendedLifetime(resolver) { XCTAssertEqual(Tracker.living, 1) }
        }
        eventually("the chain is freed") { Tracker.living == 0 }
    }

    func testAValueIsFreedWithTheLastPromiseOfIt() {
        do {
            let promise = Promise<Tracker, any Error>.value(Tracker())
            XCTAssertEqual(Tracker.living, 1)
            withExtendedLifetime(promise) {}
        }
        XCTAssertEqual(Tracker.living, 0)
    }
}
