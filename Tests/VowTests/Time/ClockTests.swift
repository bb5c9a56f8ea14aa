// Tests of times by a clock of Swift's.

import Vow
import XCTest

final class ClockTests: VowTest {
    private let clock = TestClock()

    private func someoneSleeps() { eventually("somebody sleeps") { clock.sleepers == 1 } }

    func testADelayIsOverWhenItsClockHasPassedIt() throws {
        let delay = Promise.delay(.seconds(3), clock: clock)
        someoneSleeps()
        clock.advance(by: .seconds(2))
        XCTAssertEqual(clock.sleepers, 1)
        XCTAssertTrue(delay.isPending)
        clock.advance(by: .seconds(1))
        try delay.wait()
    }

    func testAClocksOwnDurationsCount() throws {
        try Promise.delay(.milliseconds(1), tolerance: .seconds(1), clock: ContinuousClock()).wait()
        try Promise.delay(.milliseconds(1), clock: SuspendingClock()).wait()
    }

    func testACancelledDelayLeavesItsClock() {
        let delay = Promise.delay(.seconds(3), clock: clock)
        someoneSleeps()
        delay.cancel()
        eventually("nobody sleeps") { clock.sleepers == 0 }
        XCTAssertTrue(failure(of: delay) is CancellationError)
    }

    func testAValueIsPassedOnSoMuchLaterAndAFailureAtOnce() throws {
        let later = Promise<String, any Error>.value("v").delay(.seconds(5), clock: clock)
        someoneSleeps()
        XCTAssertTrue(later.isPending)
        clock.advance(by: .seconds(5))
        XCTAssertEqual(try later.wait(), "v")
        let failed = Promise<String, any Error>.failure(TestError.one)
        XCTAssertEqual(
            failure(of: failed.delay(.seconds(5), clock: clock)) as? TestError, .one)
    }

    func testInTimeTheResultIsPassedOnAndNobodySleeps() throws {
        let (promise, resolver) = Promise<String, any Error>.pending()
        let limited = promise.timeout(.seconds(5), clock: clock)
        someoneSleeps()
        resolver.fulfill("v")
        XCTAssertEqual(try limited.wait(), "v")
        eventually("nobody sleeps") { clock.sleepers == 0 }
    }

    func testTooLateIsAFailureAndCancelsWhatNobodyElseWants() {
        let cancelled = Journal<Int>()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        resolver.onCancel { cancelled.write(1) }
        let limited = (consume promise).timeout(.seconds(5), clock: clock)
        someoneSleeps()
        clock.advance(by: .seconds(5))
        guard case PromiseError.timedOut(lastError: nil)? = failure(of: limited) else {
            return XCTFail("\(limited) instead of a time-out")
        }
        eventually("the promise is cancelled") { cancelled.entries == [1] }
        withExtendedLifetime(resolver) {}
    }

    func testRetriesGoByTheClock() throws {
        let times = Journal<Duration>()
        let clock = clock
        let policy = RetryPolicy(
            attempts: 5, firstDelay: .seconds(1), factor: 3, maxDelay: .seconds(5))
        let value = Promise<Int, any Error>.retry(policy, clock: clock) { attempt in
            times.write(clock.now.time)
            if attempt < 5 { throw TestError.one }
            return Promise<Int, any Error>.value(attempt)
        }
        for delay in [1, 3, 5, 5] {
            someoneSleeps()
            clock.advance(by: .seconds(delay))
            eventually("the attempt has begun") { times.entries.last == clock.now.time }
        }
        XCTAssertEqual(try value.wait(), 5)
        XCTAssertEqual(times.entries, [0, 1, 4, 9, 14].map { .seconds($0) })
    }

    func testADeadlineEndsTheRetriesWithTheLastFailure() {
        let policy = RetryPolicy(attempts: nil, firstDelay: .seconds(1), deadline: .seconds(4))
        let value = Promise<Int, any Error>.retry(policy, clock: clock) { _ in
            Promise<Int, any Error>.failure(TestError.two)
        }
        eventually("deadline and delay are under way") { clock.sleepers == 2 }
        clock.advance(by: .seconds(4))
        guard case PromiseError.timedOut(let last)? = failure(of: value) else {
            return XCTFail("\(value) instead of a time-out")
        }
        XCTAssertEqual(last as? TestError, .two)
        eventually("nobody sleeps") { clock.sleepers == 0 }
    }

    func testATimeOutOfAnAttemptIsNotTheDeadlines() {
        let policy = RetryPolicy(attempts: 2, deadline: .seconds(9))
        // The attempts are through while the race with the deadline is made, or before, or after.
        for _ in 0..<1_000 {
            let value = Promise<Int, any Error>.retry(policy, clock: clock) { attempt in
                Promise<Int, any Error>.failure(
                    attempt == 1 ? TestError.one as any Error : PromiseError.timedOut)
            }
            guard case PromiseError.timedOut(lastError: nil)? = failure(of: value) else {
                return XCTFail("\(value) instead of the attempt's own time-out")
            }
        }
        eventually("nobody sleeps") { clock.sleepers == 0 }
    }

    func testAPolicyThatMakesNoSenseIsRefused() {
        for policy in [
            RetryPolicy(firstDelay: .seconds(-1)), RetryPolicy(maxDelay: .seconds(-1)),
            RetryPolicy(attempts: 0), RetryPolicy(jitter: 2),
        ] {
            let value = Promise<Int, any Error>.retry(policy, clock: clock) { attempt in
                Promise<Int, any Error>.value(attempt)
            }
            guard case PromiseError.invalidArgument? = failure(of: value) else {
                return XCTFail("\(value) for \(policy)")
            }
        }
    }
}
