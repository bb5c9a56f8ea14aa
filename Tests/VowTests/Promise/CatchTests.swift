// Tests Promise+Catch.swift.

import Vow
import XCTest

final class CatchTests: VowTest {
    private let failed = Promise<Int, any Error>.failure(TestError.one)

    func testAnErrorFromAnyEarlierLinkLandsThere() throws {
        let calls = Journal<String>()
        let end = failed.map { $0 + 1 }.map { "\($0)" }.catch { calls.write("\($0)") }
        try end.wait()
        XCTAssertEqual(calls.entries, ["one"])
    }

    func testTheEndIsFulfilledEitherWay() throws {
        try Promise<Int, any Error>.value(1).catch { _ in XCTFail("no failure") }.wait()
        let calls = Journal<String>()
        try failed.catch { _ in calls.write("catch") }.finally { calls.write("finally") }.wait()
        XCTAssertEqual(calls.entries, ["catch", "finally"])
    }

    func testDoneEndsTheValuesSide() throws {
        let calls = Journal<Int>()
        try Promise<Int, any Error>.value(1).done { calls.write($0) }.wait()
        XCTAssertEqual(calls.entries, [1])
        let thrown = Promise<Int, any Error>.value(1).done { _ in throw TestError.two }
        XCTAssertEqual(failure(of: thrown) as? TestError, .two)
    }

    func testACancellationComesToACatchUnlessItIsSpared() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let calls = Journal<String>()
        let all = promise.catch { calls.write("all \($0 is CancellationError)") }
        let spared = promise.catch(policy: .allErrorsExceptCancellation) { _ in
            calls.write("spared")
        }
        promise.cancel()
        try all.wait()
        try spared.wait()
        XCTAssertEqual(calls.entries, ["all true"])
        let told = failed.catch(policy: .allErrorsExceptCancellation) { _ in calls.write("told") }
        try told.wait()
        XCTAssertEqual(calls.entries.last, "told")
        withExtendedLifetime(resolver) {}
    }

    func testACauterizedChainIsOverAndReportsNothing() throws {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        try Promise<Int, any Error>.failure(TestError.three).cauterize().wait()
        XCTAssertEqual(reports.entries, [])
    }
}
