// Tests of tokens of several tokens.

import Vow
import XCTest

final class TokenLogicTests: VowTest {
    func testEitherIsCancelledByTheFirst() {
        let (left, right) = (CancellationSource(), CancellationSource())
        let either = left.token || right.token
        XCTAssertFalse(either.isCancelled)
        right.cancel(reason: "right")
        XCTAssertTrue(either.isCancelled)
        XCTAssertEqual(either.reason(as: String.self), "right")
        XCTAssertFalse(left.token.isCancelled)
    }

    func testBothAreCancelledByTheLast() {
        let (left, right) = (CancellationSource(), CancellationSource())
        let both = left.token && right.token
        let calls = Journal<String>()
        both.onCancel { calls.write("cancelled") }
        right.cancel(reason: "right")
        XCTAssertFalse(both.isCancelled)
        left.cancel(reason: "left")
        XCTAssertTrue(both.isCancelled)
        XCTAssertEqual(both.reason(as: String.self), "left")
        XCTAssertEqual(calls.entries, ["cancelled"])
    }

    func testWhatIsCancelledAlreadyCounts() {
        let (left, right) = (CancellationSource(), CancellationSource())
        left.cancel()
        XCTAssertTrue((left.token || right.token).isCancelled)
        let both = left.token && right.token
        XCTAssertFalse(both.isCancelled)
        right.cancel()
        XCTAssertTrue(both.isCancelled)
        XCTAssertTrue((left.token && right.token).isCancelled)
        XCTAssertTrue((left.token && left.token).isCancelled)
    }

    func testALinkKeepsWhatItIsCancelledBy() {
        let (left, right) = (CancellationSource(), CancellationSource())
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let link = promise.map(cancelledBy: left.token && (right.token || left.token)) { $0 }
        left.cancel()
        XCTAssertTrue(failure(of: link) is CancellationError)
        withExtendedLifetime(resolver) {}
    }

    func testNothingStaysAtTheTokensWhenNobodyHasTheNewOne() {
        let (left, right) = (CancellationSource(), CancellationSource())
        let before = Holdings()
        for _ in 0..<100 {
            let both = left.token && right.token
            both.onCancel {}
            XCTAssertFalse(both.isCancelled)
        }
        XCTAssertEqual(Holdings(), before)
        left.cancel()
        right.cancel()
    }
}
