// Tests of promises of a date.

import Foundation
import Vow
import VowFoundation
import XCTest

final class DateTests: VowTest {
    func testADateThatHasPassedIsThere() {
        XCTAssertEqual(Promise.at(Date()).state, .fulfilled)
        XCTAssertEqual(Promise.at(.distantPast).state, .fulfilled)
    }

    func testAPromiseOfADateIsFulfilledThenAndNotBefore() throws {
        let date = Date() + 0.05
        let promise = Promise.at(date)
        XCTAssertTrue(promise.isPending)
        try promise.wait(timeout: patience)
        XCTAssertGreaterThanOrEqual(Date(), date)
    }

    func testADateThatNeverComesCanBeCancelled() {
        for date in [Date() + 1000, .distantFuture] {
            let promise = Promise.at(date)
            XCTAssertTrue(promise.cancel())
            XCTAssertTrue(promise.error is CancellationError)
        }
    }

    func testTheTimerGoesWithTheLastReader() {
        let before = Holdings()
        for _ in 0..<100 { XCTAssertTrue(Promise.at(Date() + 1000).isPending) }
        eventually("no timer is left") { Holdings() == before }
    }
}
