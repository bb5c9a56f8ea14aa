// Tests VowMetrics.

import CoreMetrics
import MetricsTestKit
import Vow
import VowMetrics
import XCTest

final class MetricsTests: XCTestCase {
    func testTheCountsAreTheRuntimes() throws {
        let test = TestMetrics()
        let metrics = PromiseMetrics(factory: test)
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let link = promise.map { $0 + 1 }
        metrics.record()
        XCTAssertGreaterThanOrEqual(try test.expectMeter("vow.promises.pending").lastValue ?? 0, 2)
        XCTAssertGreaterThanOrEqual(try test.expectMeter("vow.handlers").lastValue ?? 0, 1)
        XCTAssertGreaterThan(try test.expectMeter("vow.bytes").lastValue ?? 0, 0)
        let before = test.counterTotal(label: "vow.promises.settled")
        resolver.fulfill(1)
        XCTAssertEqual(try link.wait(), 2)
        metrics.record()
        // The process's: what other tests have left may settle meanwhile.
        XCTAssertGreaterThanOrEqual(test.counterTotal(label: "vow.promises.settled"), before + 2)
        let created = test.counterTotal(label: "vow.promises.created")
        XCTAssertGreaterThanOrEqual(created, 2)
        XCTAssertLessThanOrEqual(created, Int64(PromiseRuntime.statistics.created))
    }

    func testItRecordsAgainAndAgainAndEndsWithItsOwner() throws {
        let test = TestMetrics()
        var metrics: PromiseMetrics? = PromiseMetrics(
            every: .milliseconds(2), prefix: "app", factory: test)
        let meter = try test.expectMeter("app.promises.live")
        eventually { meter.values.count >= 3 }
        weak let gone = metrics
        withExtendedLifetime(metrics) {}
        metrics = nil
        eventually { gone == nil }
    }

    func testUnhandledRejectionsAreCountedAndHandedOn() throws {
        let (test, told) = (TestMetrics(), Journal<String>())
        PromiseMetrics(factory: test).countUnhandled { told.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        _ = Promise<Int, any Error>.failure(TestError.one)
        XCTAssertEqual(told.entries, ["one"])
        XCTAssertEqual(test.counterTotal(label: "vow.promises.unhandled"), 1)
    }

    func testAPromiseIsMeasuredWithItsOutcome() throws {
        let test = TestMetrics()
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let measured = promise.measured("load", dimensions: [("host", "a")], factory: test)
        usleep(2000)
        resolver.fulfill(3)
        XCTAssertEqual(try measured.wait(), 3)
        let timer = try test.expectTimer("load", [("host", "a"), ("outcome", "fulfilled")])
        XCTAssertGreaterThanOrEqual(timer.values.first ?? 0, 2_000_000)
        XCTAssertThrowsError(
            try Promise<Int, TestError>.failure(.one).measured("load", factory: test).wait())
        XCTAssertEqual(test.timers(label: "load", dimensions: [("outcome", "rejected")]).count, 1)
        let (pending, other) = Promise<Int, any Error>.pending()
        let cancelled = pending.measured("load", factory: test)
        cancelled.cancel()
        XCTAssertThrowsError(try cancelled.wait())
        XCTAssertEqual(test.timers(label: "load", dimensions: [("outcome", "cancelled")]).count, 1)
        other.fulfill(1)
    }

    private func eventually(line: UInt = #line, _ condition: () -> Bool) {
        let end = ContinuousClock.now + .seconds(60)
        while !condition() {
            if ContinuousClock.now > end { return XCTFail("not in a minute", line: line) }
            usleep(200)
        }
    }
}
