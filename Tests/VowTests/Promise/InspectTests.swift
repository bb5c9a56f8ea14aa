// Tests Promise+Inspect.swift and Promise+Wait.swift.

import Vow
import XCTest

final class InspectTests: VowTest {
    func testAPromiseShowsWhereItStands() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertEqual(promise.state, .pending)
        XCTAssertNil(promise.result)
        XCTAssertNil(promise.error)
        XCTAssertEqual("\(promise)", "Promise(pending)")
        resolver.fulfill(7)
        XCTAssertEqual(promise.state, .fulfilled)
        XCTAssertEqual(try promise.result?.get(), 7)
        XCTAssertEqual("\(promise)", "Promise(fulfilled: 7)")
        let failed = Promise<Int, TestError>.failure(.one)
        XCTAssertEqual(failed.state, .rejected)
        XCTAssertEqual(failed.error, .one)
        XCTAssertEqual(failed.result, .failure(.one))
        XCTAssertEqual("\(failed)", "Promise(rejected: one)")
    }

    func testAWaitEndsWithTheResult() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let waited = Promise<Int, any Error>(on: .pool) { try promise.wait() }
        resolver.fulfill(3)
        XCTAssertEqual(try waited.wait(), 3)
    }

    func testAWaitEndsWhenItsTimeIsUp() {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        XCTAssertThrowsError(try promise.wait(timeout: .milliseconds(5))) {
            guard case PromiseError.timedOut(lastError: nil) = $0 else { return XCTFail("\($0)") }
        }
        XCTAssertThrowsError(try promise.wait(timeout: .zero))
        XCTAssertThrowsError(try promise.wait(timeout: .nanoseconds(-1))) {
            guard case PromiseError.invalidArgument = $0 else { return XCTFail("\($0)") }
        }
        resolver.fulfill(1)
    }

    /// On the main thread, which serves the main actor meanwhile.
    func testAWaitWhoseTimeIsUpLeavesALaterFailureUnhandled() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        XCTAssertTrue(Thread.isMainThread)
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            for _ in 0..<2 {
                XCTAssertThrowsError(try promise.wait(timeout: .milliseconds(5)))
            }
            resolver.reject(TestError.one)
        }
        eventually("it is reported") { !reports.entries.isEmpty }
        XCTAssertEqual(reports.entries, ["one"])
    }

    func testALoopWhoseTimeIsUpLeavesALaterFailureUnhandled() throws {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        let loop = try PromiseLoop()
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            XCTAssertThrowsError(try loop.run(until: promise, timeout: .milliseconds(5)))
            resolver.reject(TestError.two)
        }
        eventually("it is reported") { !reports.entries.isEmpty }
        XCTAssertEqual(reports.entries, ["two"])
    }

    func testAWaitThatFailsInTimeHasHandledTheFailure() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            let rejected = Promise<Void, any Error>(on: .pool) {
                usleep(5_000)
                resolver.reject(TestError.three)
            }
            XCTAssertTrue(failure(of: promise) as? TestError == .three)
            XCTAssertNoThrow(try rejected.wait())
        }
        XCTAssertEqual(reports.entries, [])
    }

    func testAWaitThatBlocksWhatItWaitsForIsRefused() throws {
        let queue = PromiseExecutor.serial()
        let (gate, resolver) = Promise<Void, any Error>.pending()
        let later = gate.map(on: queue) { 1 }
        let refused = Promise<Bool, any Error>(on: queue) {
            do { _ = try later.wait() } catch PromiseError.deadlock { return true }
            return false
        }
        XCTAssertTrue(try refused.wait())
        resolver.fulfill()
        XCTAssertEqual(try later.wait(), 1)
    }
}
