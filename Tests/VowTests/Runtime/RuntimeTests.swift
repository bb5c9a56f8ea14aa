// Tests Runtime/: unhandled rejections, context, statistics.

import CVow
import Vow
import XCTest

final class RuntimeTests: VowTest {
    func testAFailureThatNobodyLookedAtIsReportedOnce() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        _ = Promise<Int, any Error>.failure(TestError.one)
        XCTAssertEqual(reports.entries, ["one"])
        _ = Promise<Int, any Error>.failure(TestError.two).map(on: .inline) { $0 + 1 }
        XCTAssertEqual(reports.entries, ["one", "two"])
    }

    func testAFailureThatSomebodyLookedAtIsNotReported() throws {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        _ = Promise<Int, any Error>.failure(TestError.one).error
        _ = try? Promise<Int, any Error>.failure(TestError.one).wait()
        Promise<Int, any Error>.failure(TestError.one).catch(on: .inline) { _ in }
        let (cancelled, resolver) = Promise<Int, any Error>.pending()
        cancelled.cancel()
        withExtendedLifetime(resolver) {}
        XCTAssertEqual(reports.entries, [])
    }

    func testAHandlerOfReportsMayReplaceItself() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { _ in
            UnhandledRejections.setHandler { reports.write("second \($0)") }
        }
        defer { UnhandledRejections.setHandler(nil) }
        _ = Promise<Int, any Error>.failure(TestError.one)
        _ = Promise<Int, any Error>.failure(TestError.two)
        XCTAssertEqual(reports.entries, ["second two"])
    }

    func testAContextTravelsAlongAChain() throws {
        let end: Promise<String?, any Error> = PromiseContext.with("request 7") {
            Promise<Int, any Error>(on: .pool) { 1 }
                .map(on: .serial()) { $0 + 1 }
                .map { _ in PromiseContext.current(as: String.self) }
        }
        XCTAssertNil(PromiseContext.current(as: String.self))
        XCTAssertEqual(try end.wait(), "request 7")
    }

    func testAContextIsRestoredAndMayBeReplacedInside() {
        PromiseContext.with(1) {
            PromiseContext.with(2) {
                XCTAssertEqual(PromiseContext.current(as: Int.self), 2)
            }
            XCTAssertEqual(PromiseContext.current(as: Int.self), 1)
            XCTAssertNil(PromiseContext.current(as: String.self))
        }
        PromiseContext.set(Int?.some(3))
        XCTAssertEqual(PromiseContext.current(as: Int.self), 3)
        PromiseContext.set(Int?.none)
        XCTAssertNil(PromiseContext.current(as: Int.self))
    }

    func testStatisticsCountWhatLives() {
        let before = PromiseRuntime.statistics
        let (promise, resolver) = Promise<Int, any Error>.pending()
        promise.map(on: .inline) { _ in }
        XCTAssertEqual(PromiseRuntime.statistics.live, before.live + 2)
        XCTAssertEqual(PromiseRuntime.statistics.pending, before.pending + 2)
        XCTAssertEqual(PromiseRuntime.statistics.handlers, before.handlers + 1)
        resolver.fulfill(1)
        XCTAssertEqual(PromiseRuntime.statistics.handlers, before.handlers)
        XCTAssertEqual(PromiseRuntime.version.major, Int(VOW_VERSION_MAJOR))
    }

    func testAThreadGivesBackWhatItKeeps_andThenKeepsNothing() {
        let made = (0..<100).map { vow_promise_with(vow_int($0)) }
        for promise in made { vow_promise_release(promise) }
        let spare = PromiseRuntime.statistics.spare
        let given = PromiseRuntime.trim()
        XCTAssertLessThanOrEqual(UInt64(given), spare)
        // Under ThreadSanitizer nothing is kept.
        if spare > 0 { XCTAssertGreaterThanOrEqual(given, 100 * 40) }
        XCTAssertEqual(PromiseRuntime.trim(), 0)
    }
}
