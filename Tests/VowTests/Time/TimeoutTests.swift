// Tests of timeout, by a virtual clock.

import Vow
import XCTest

final class TimeoutTests: VowTest {
    func testInTimeTheResultIsPassedOn() throws {
        let loop = try PromiseLoop.virtual()
        let members = PendingMembers(2, of: String.self)
        let limited = members.promises.map { $0.timeout(.seconds(5)) }
        try loop.advance(by: .seconds(4))
        members.resolvers[0].fulfill("v")
        members.resolvers[1].reject(TestError.one)
        XCTAssertEqual(limited[0].settledValue, "v")
        XCTAssertEqual(limited[1].error as? TestError, .one)
        XCTAssertEqual(try loop.advance(by: .seconds(4)), 0)
    }

    func testTooLateIsAFailureAndCancelsWhatNobodyElseWants() throws {
        let loop = try PromiseLoop.virtual()
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let kept = members!.promises[1]
        let limited = members!.promises.map { $0.timeout(.seconds(5)) }
        members = nil
        try loop.advance(by: .seconds(5))
        for promise in limited {
            guard case PromiseError.timedOut(lastError: nil)? = promise.error else {
                return XCTFail("\(promise) instead of a time-out")
            }
        }
        XCTAssertEqual(cancelled.entries, [0])
        XCTAssertTrue(kept.isPending)
        withExtendedLifetime(resolvers) {}
    }

    func testCancellingTheLimitedOneCancelsTheOther() throws {
        let loop = try PromiseLoop.virtual()
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(1, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let limited = members!.promises[0].timeout(.seconds(5))
        members = nil
        limited.cancel()
        XCTAssertEqual(cancelled.entries, [0])
        XCTAssertEqual(try loop.advance(by: .seconds(10)), 0)
        withExtendedLifetime(resolvers) {}
    }

    func testATypedFailureTakesATimeOutIn() throws {
        let loop = try PromiseLoop.virtual()
        let (promise, resolver) = Promise<Int, FetchError>.pending()
        let limited = promise.timeout(.seconds(1))
        try loop.advance(by: .seconds(1))
        XCTAssertEqual(limited.error, .tooLate)
        withExtendedLifetime(resolver) {}
    }

    func testANegativeTimeIsRejectedAndIsNotForEver() {
        for time in [Duration.nanoseconds(-1), .seconds(-1)] {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            guard case PromiseError.invalidArgument? = promise.timeout(time).error else {
                return XCTFail("a negative time was taken")
            }
            resolver.fulfill(1)
        }
    }

    func testTheLongestTimeIsNoTimeOut() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let limited = promise.timeout(.seconds(Int64.max))
        resolver.fulfill(1)
        XCTAssertEqual(try limited.wait(), 1)
    }
}

private enum FetchError: PromiseFailure, Equatable {
    case tooLate, other

    init(promiseError error: any Error) {
        if case PromiseError.timedOut = error { self = .tooLate } else { self = .other }
    }
}
