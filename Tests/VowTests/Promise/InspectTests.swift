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

    func testAWaitThatBlocksWhatItWaitsForIsRefused() throws {
        let queue = PromiseExecutor.serial()
        let (gate, resolver) = Promise<Void, any Error>.pending()
        let later = gate.then(on: queue) { 1 }
        let refused = Promise<Bool, any Error>(on: queue) {
            do { _ = try later.wait() } catch PromiseError.deadlock { return true }
            return false
        }
        XCTAssertTrue(try refused.wait())
        resolver.fulfill()
        XCTAssertEqual(try later.wait(), 1)
    }
}
