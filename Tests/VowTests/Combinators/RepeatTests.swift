// Tests of Promise.repeat.

import Vow
import VowTestSupport
import XCTest

final class RepeatTests: VowTest {
    func testTheStateChangesWhileTheConditionHolds() throws {
        let five = Promise<Int, any Error>.repeat(from: 0, while: { $0 < 5 }, step: { $0 + 1 })
        XCTAssertEqual(try five.wait(), 5)
    }

    func testAConditionThatNeverHoldsGivesTheFirstState() throws {
        let none = Promise<String, any Error>.repeat(
            from: "a", while: { _ in false }, step: { $0 + "b" })
        XCTAssertEqual(try none.wait(), "a")
    }

    func testAPromiseThatTheStepMakesIsWaitedFor() throws {
        let text = Promise<String, any Error>.repeat(
            from: "", while: { $0.count < 3 }, step: { .value($0 + "x") })
        XCTAssertEqual(try text.wait(), "xxx")
    }

    func testClosuresOfAllShapesAreTaken() throws {
        let promised = Promise.repeat(from: 0, while: { $0 < 2 }) { state in
            let next = state + 1
            return Promise<Int, any Error>.value(next)
        }
        XCTAssertEqual(try promised.wait(), 2)
        let throwing = Promise.repeat(from: "", while: { $0.count < 2 }) { text in
            if text == "b" { throw TestError.one }
            return text + "a"
        }
        XCTAssertEqual(try throwing.wait(), "aa")
        XCTAssertEqual(try Promise.repeat(from: 0, while: { $0 < 2 }) { $0 + 1 }.wait(), 2)
    }

    func testWhatTheStepThrowsIsTheFailure() {
        let failed = Promise<Int, any Error>.repeat(
            from: 0, while: { _ in true },
            step: { state in
                if state == 3 { throw TestError.three }
                return state + 1
            })
        XCTAssertEqual(failure(of: failed) as? TestError, .three)
    }

    func testCancellingEndsTheLoop() {
        let (begun, beginning) = Promise<Void, any Error>.pending()
        let cancelled = Journal<Int>()
        let endless = Promise<Int, any Error>.repeat(
            from: 0, on: .inline, while: { _ in true },
            step: { state in
                let (promise, resolver) = Promise<Int, any Error>.pending()
                resolver.onCancel {
                    cancelled.write(state)
                    withExtendedLifetime(resolver) {}
                }
                beginning.fulfill()
                return promise
            })
        XCTAssertEqual(begun.state, .fulfilled)
        endless.cancel()
        XCTAssertEqual(cancelled.entries, [0])
        XCTAssertTrue(endless.isCancelled)
    }

    func testVeryManySteps() throws {
        let count = manyOf(100_000, full: 1_000_000)
        let end = Promise<Int, any Error>.repeat(
            from: 0, on: .inline, while: { $0 < count }, step: { $0 + 1 })
        XCTAssertEqual(try end.wait(), count)
    }
}
