// Tests of delay, by a virtual clock.

import Vow
import XCTest

final class DelayTests: VowTest {
    func testADelayIsOverNotBeforeItsTime() throws {
        let loop = try PromiseLoop.virtual()
        let delay = Promise.delay(.seconds(3))
        try loop.advance(by: .milliseconds(2_999))
        XCTAssertTrue(delay.isPending)
        try loop.advance(by: .milliseconds(1))
        XCTAssertEqual(delay.state, .fulfilled)
    }

    func testStagesWithDelaysOfTheirOwnComeInOrder() throws {
        let loop = try PromiseLoop.virtual()
        let start = PromiseClock.now
        let times = Journal<Duration>()
        @Sendable func stage(
            _ word: String, _ seconds: Int, _ text: String
        ) -> Promise<String, any Error> {
            Promise.delay(.seconds(seconds)).map {
                times.write(PromiseClock.now - start)
                return text + word
            }
        }
        let text = Promise<String, any Error>.value("One")
            .then { stage(" Two", 2, $0) }
            .then { stage(" Three", 3, $0) }
            .then { stage(" Four", 4, $0) }
        XCTAssertEqual(try loop.run(until: text), "One Two Three Four")
        XCTAssertEqual(times.entries, [.seconds(2), .seconds(5), .seconds(9)])
    }

    func testAValueIsPassedOnSoMuchLater() throws {
        let loop = try PromiseLoop.virtual()
        let (promise, resolver) = Promise<String, any Error>.pending()
        let later = promise.delay(.seconds(5))
        try loop.advance(by: .seconds(10))
        resolver.fulfill("v")
        try loop.advance(by: .seconds(4))
        XCTAssertTrue(later.isPending)
        try loop.advance(by: .seconds(1))
        XCTAssertEqual(later.settledValue, "v")
    }

    func testAFailureIsPassedOnAtOnce() throws {
        let loop = try PromiseLoop.virtual()
        let later = Promise<Int, any Error>.failure(TestError.one).delay(.seconds(5))
        try loop.advance(by: .zero)
        XCTAssertEqual(later.error as? TestError, .one)
    }

    func testCancellingRemovesTheTimer() throws {
        let loop = try PromiseLoop.virtual()
        let delay = Promise.delay(.seconds(5))
        let later = Promise<Int, any Error>.value(1).delay(.seconds(5))
        try loop.advance(by: .zero)
        XCTAssertTrue(delay.cancel())
        XCTAssertTrue(later.cancel())
        XCTAssertEqual(try loop.advance(by: .seconds(10)), 0)
    }

    func testANegativeTimeIsRejected() {
        guard
            case PromiseError.invalidArgument? = failure(of: Promise.delay(.nanoseconds(-1)))
        else { return XCTFail("a negative time was taken") }
    }

    func testOffTheLoopsADelayTakesItsTime() throws {
        let start = ContinuousClock.now
        try Promise.delay(.milliseconds(5)).wait()
        XCTAssertGreaterThanOrEqual(ContinuousClock.now - start, .milliseconds(5))
    }

    func testTheClockOfDelaysDoesNotGoBack() {
        let first = PromiseClock.now
        XCTAssertGreaterThanOrEqual(PromiseClock.now, first)
    }
}
