// Tests of retry, by a virtual clock.

import Vow
import XCTest

final class RetryTests: VowTest {
    func testTheFirstAttemptThatDoesNotFailDecides() throws {
        let attempts = Journal<Int>()
        let value = Promise<String, any Error>.retry { attempt in
            attempts.write(attempt)
            if attempt < 3 { throw TestError.one }
            return "third"
        }
        XCTAssertEqual(try value.wait(), "third")
        XCTAssertEqual(attempts.entries, [1, 2, 3])
    }

    func testAPromiseThatAnAttemptMakesIsWaitedFor() throws {
        let value = Promise.retry(RetryPolicy(attempts: 2)) { attempt in
            let outcome: Result<Int, any Error> =
                attempt == 1 ? .failure(TestError.one) : .success(attempt)
            return Promise(outcome)
        }
        XCTAssertEqual(try value.wait(), 2)
    }

    func testClosuresOfAllShapesAreTaken() throws {
        XCTAssertEqual(try Promise.retry { $0 }.wait(), 1)
        XCTAssertEqual(try Promise.retry { Promise<Int, any Error>.value($0) }.wait(), 1)
        XCTAssertEqual(try Promise.retry { _ in later("a") }.wait(), "a")
        let throwing = Promise.retry { attempt in
            if attempt < 2 { throw TestError.one }
            return "\(attempt)"
        }
        XCTAssertEqual(try throwing.wait(), "2")
        let promised = Promise.retry { attempt in
            if attempt < 2 { throw TestError.one }
            return later("\(attempt)")
        }
        XCTAssertEqual(try promised.wait(), "2")
    }

    func testTheLastFailureIsTheWholes() {
        let errors: [TestError] = [.one, .two, .three]
        let value = Promise<Int, any Error>.retry(RetryPolicy(attempts: 2)) { attempt in
            throw errors[attempt - 1]
        }
        XCTAssertEqual(failure(of: value) as? TestError, .two)
    }

    func testDelaysGrowByTheFactorUpToTheirBound() throws {
        let loop = try PromiseLoop.virtual()
        let start = PromiseClock.now
        let times = Journal<Duration>()
        let policy = RetryPolicy(
            attempts: 5, firstDelay: .seconds(1), factor: 3, maxDelay: .seconds(5))
        let value = Promise<Int, any Error>.retry(policy) { attempt in
            times.write(PromiseClock.now - start)
            if attempt < 5 { throw TestError.one }
            return attempt
        }
        XCTAssertEqual(try loop.run(until: value), 5)
        XCTAssertEqual(
            times.entries, [.zero, .seconds(1), .seconds(4), .seconds(9), .seconds(14)])
    }

    func testJitterMakesDelaysShorterAndNotLonger() throws {
        let loop = try PromiseLoop.virtual()
        let start = PromiseClock.now
        let policy = RetryPolicy(
            attempts: 11, firstDelay: .seconds(1), factor: 1, jitter: 0.5)
        let value = Promise<Int, any Error>.retry(policy) { attempt in
            if attempt < 11 { throw TestError.one }
            return attempt
        }
        try loop.run(until: value)
        let time = PromiseClock.now - start
        XCTAssertGreaterThanOrEqual(time, .seconds(5))
        XCTAssertLessThanOrEqual(time, .seconds(10))
    }

    func testTheDeadlineEndsTheAttemptUnderWayAndSaysTheLastError() throws {
        let loop = try PromiseLoop.virtual()
        let cancelled = Journal<Int>()
        let policy = RetryPolicy(attempts: nil, deadline: .seconds(10))
        let value = Promise.retry(policy) { attempt in
            if attempt == 1 { throw TestError.one }
            let (promise, resolver) = Promise<Int, any Error>.pending()
            resolver.onCancel {
                cancelled.write(attempt)
                withExtendedLifetime(resolver) {}
            }
            return promise
        }
        try loop.advance(by: .seconds(10))
        guard case PromiseError.timedOut(let last)? = value.error else {
            return XCTFail("\(value) instead of a time-out")
        }
        XCTAssertEqual(last as? TestError, .one)
        XCTAssertEqual(cancelled.entries, [2])
    }

    func testAFailureThatThePolicyRefusesIsTheLast() {
        let attempts = Journal<Int>()
        let policy = RetryPolicy(attempts: nil) { $0 as? TestError == .one }
        let value = Promise<Int, any Error>.retry(policy) { attempt in
            attempts.write(attempt)
            throw attempt < 4 ? TestError.one : TestError.two
        }
        XCTAssertEqual(failure(of: value) as? TestError, .two)
        XCTAssertEqual(attempts.entries, [1, 2, 3, 4])
    }

    func testCancellingEndsTheDelay() throws {
        let loop = try PromiseLoop.virtual()
        let attempts = Journal<Int>()
        let value = Promise<Int, any Error>.retry(RetryPolicy(firstDelay: .seconds(5))) { attempt in
            attempts.write(attempt)
            throw TestError.one
        }
        try loop.advance(by: .seconds(1))
        XCTAssertTrue(value.cancel())
        XCTAssertEqual(try loop.advance(by: .seconds(100)), 0)
        XCTAssertEqual(attempts.entries, [1])
    }

    func testAPolicyWithNumbersThatMakeNoSenseIsRefused() {
        let policies = [
            RetryPolicy(attempts: 0), RetryPolicy(attempts: -1), RetryPolicy(jitter: 1.5),
            RetryPolicy(firstDelay: .seconds(-1)), RetryPolicy(factor: -.infinity),
            RetryPolicy(factor: .nan), RetryPolicy(maxDelay: .seconds(-1)),
            RetryPolicy(deadline: .seconds(-1)),
        ]
        for policy in policies {
            let value = Promise<Int, any Error>.retry(policy) { $0 }
            guard case PromiseError.invalidArgument? = failure(of: value) else {
                return XCTFail("\(policy) was taken")
            }
        }
    }

    func testZeroIsTakenAtItsWord() throws {
        let loop = try PromiseLoop.virtual()
        let start = PromiseClock.now
        let failing: @Sendable (Int) throws -> Int = { attempt in
            if attempt < 4 { throw TestError.one }
            return attempt
        }
        let bounded = RetryPolicy(attempts: 4, firstDelay: .seconds(9), maxDelay: .zero)
        XCTAssertEqual(try loop.run(until: Promise.retry(bounded, failing)), 4)
        XCTAssertEqual(PromiseClock.now - start, .zero)
        let once = RetryPolicy(attempts: 4, firstDelay: .seconds(9), factor: 0)
        XCTAssertEqual(try loop.run(until: Promise.retry(once, failing)), 4)
        XCTAssertEqual(PromiseClock.now - start, .seconds(9))
    }

    func testTypedFailuresStayTyped() throws {
        let value = Promise<Int, TestError>.retry { (_: Int) throws(TestError) -> Int in
            throw .three
        }
        XCTAssertEqual(try value.recover { $0 == .three ? 3 : 0 }.wait(), 3)
    }

    func testWhatTheFunctionCapturesIsFreedWhenItIsOver() throws {
        var tracker: Tracker? = Tracker()
        let value = Promise<Int, any Error>.retry { [tracker] attempt in
            withExtendedLifetime(tracker) { attempt }
        }
        tracker = nil
        try value.wait()
        eventually("the closure is freed") { Tracker.living == 0 }
    }
}

private func later(_ text: String) -> Promise<String, any Error> { .value(text) }
