// Tests of what comes after a failure.

import Vow
import XCTest

private typealias Number = Promise<Int, any Error>

final class RecoveryTests: VowTest {
    private let calls = Journal<String>()

    func testAFailureComesToTheNextHandlerThatTakesFailures() throws {
        let calls = calls
        let ended = Number.value(1)
            .map { _ -> Int in throw TestError.one }
            .map { number -> Int in
                calls.write("skipped \(number)")
                return number
            }
            .catch { calls.write("caught \($0)") }
        try ended.wait()
        XCTAssertEqual(calls.entries, ["caught one"])
    }

    func testCatchIsSkippedByAValue() throws {
        let calls = calls
        try Number.value(1).catch { _ in calls.write("caught") }.wait()
        XCTAssertEqual(calls.entries, [])
    }

    func testRecoverGoesOnWithAValueOrAnotherFailure() throws {
        XCTAssertEqual(try Number.failure(TestError.one).recover { _ in 7 }.wait(), 7)
        XCTAssertEqual(try Number.value(1).recover { _ in 7 }.wait(), 1)
        let again = Number.failure(TestError.one).recover { _ -> Int in throw TestError.two }
        XCTAssertEqual(failure(of: again) as? TestError, .two)
        XCTAssertEqual(try Number.failure(TestError.one).recover(with: 8).wait(), 8)
    }

    func testRecoverWaitsForItsPromise() throws {
        let (inner, resolver) = Number.pending()
        let outer = Number.failure(TestError.one).recover(on: .inline) { _ in inner }
        XCTAssertTrue(outer.isPending)
        resolver.fulfill(5)
        XCTAssertEqual(try outer.wait(timeout: .seconds(10)), 5)
    }

    func testRecoverTakesErrorsOfItsTypeOnly() throws {
        let other = Number.failure(CancellationError()).recover(from: TestError.self) { _ in 1 }
        XCTAssertTrue(failure(of: other) is CancellationError)
        let own = Number.failure(TestError.two)
            .recover(from: CancellationError.self) { _ in 1 }
            .recover(from: TestError.self) { $0 == .two ? 2 : 3 }
        XCTAssertEqual(try own.wait(), 2)
        // A value passes by all of them.
        XCTAssertEqual(try Number.value(9).recover(from: TestError.self) { _ in 1 }.wait(), 9)
    }

    func testRecoverTakesOneErrorOnly() throws {
        let two = Number.failure(TestError.two)
            .recover(from: TestError.one) { _ in 1 }
            .recover(from: TestError.two) { _ in 2 }
        XCTAssertEqual(try two.wait(), 2)
    }

    func testRecoverByTypeWaitsForItsPromise() throws {
        let promise = Number.failure(TestError.one)
            .recover(from: TestError.self) { _ in Number.value(4) }
        XCTAssertEqual(try promise.wait(), 4)
    }

    func testCatchHearsOfCancellationUnlessItIsToldNotTo() throws {
        let calls = calls
        let (promise, resolver) = Number.pending()
        promise.cancel()
        try promise.catch { _ in calls.write("all") }.wait()
        try promise.catch(policy: .allErrorsExceptCancellation) { _ in calls.write("some") }.wait()
        XCTAssertEqual(calls.entries, ["all"])
        withExtendedLifetime(resolver) {}
    }
}
