// Tests of &&& and |||, and of what they bind to.

import Vow
import VowOperators
import VowTestSupport
import XCTest

private typealias Number = Promise<Int, any Error>

final class PromiseOperatorTests: VowTest {
    func testTwoPromisesMakeATypedPair() throws {
        let pair: (Int, String) = try (Number.value(1) &&& Promise<String, any Error>.value("a"))
            .wait()
        XCTAssertEqual(pair.0, 1)
        XCTAssertEqual(pair.1, "a")
    }

    func testThePairWaitsForBothInAnyOrder() throws {
        let (left, answerLeft) = Number.pending()
        let (right, answerRight) = Number.pending()
        let both = left &&& right
        answerRight.fulfill(2)
        XCTAssertTrue(both.isPending)
        answerLeft.fulfill(1)
        let pair = try both.wait(timeout: .seconds(60))
        XCTAssertEqual([pair.0, pair.1], [1, 2])
    }

    func testAPromiseAndAValueMakeAPairOnEitherSide() throws {
        let right: (Int, String) = try (Number.value(1) &&& "a").wait()
        XCTAssertEqual(right.1, "a")
        let left: (String, Int) = try ("a" &&& Number.value(1)).wait()
        XCTAssertEqual(left.0, "a")
        XCTAssertEqual(failure(of: Number.failure(TestError.one) &&& "a") as? TestError, .one)
        XCTAssertEqual(failure(of: "a" &&& Number.failure(TestError.two)) as? TestError, .two)
    }

    func testTheFirstRejectionIsThePairs() {
        let (left, answerLeft) = Number.pending()
        let (right, answerRight) = Number.pending()
        let both = left &&& right
        answerRight.reject(TestError.two)
        XCTAssertEqual(failure(of: both) as? TestError, .two)
        answerLeft.reject(TestError.one)
        XCTAssertEqual(both.error as? TestError, .two)
    }

    func testFailureTypesAreKeptAndMixed() throws {
        let typed: Promise<(Int, Int), TestError> =
            Promise<Int, TestError>.value(1) &&& Promise<Int, TestError>.failure(.one)
        XCTAssertThrowsError(try typed.wait()) { XCTAssertEqual($0 as? TestError, .one) }
        let mixed = Promise<Int, Never>.value(1) &&& Promise<Int, TestError>.value(2)
        let pair: (Int, Int) = try mixed.wait()
        XCTAssertEqual([pair.0, pair.1], [1, 2])
    }

    func testTheFirstToBeFulfilledIsTheOne() throws {
        let (left, answerLeft) = Number.pending()
        let (right, answerRight) = Number.pending()
        let either = left ||| right
        answerLeft.reject(TestError.one)
        XCTAssertTrue(either.isPending)
        answerRight.fulfill(2)
        let value: Int = try either.wait(timeout: .seconds(60))
        XCTAssertEqual(value, 2)
    }

    func testBothRejectedGiveBothReasons() {
        let (left, answerLeft) = Number.pending()
        let (right, answerRight) = Number.pending()
        let either = left ||| right
        answerRight.reject(TestError.two)
        answerLeft.reject(TestError.one)
        let errors = (failure(of: either) as? AggregateError)?.errors
        XCTAssertEqual(errors?.map { $0.underlying as? TestError }, [.one, .two])
        XCTAssertEqual(errors?.map(\.label), [0, 1])
    }

    func testDifferentTypesSayWhichItWas() throws {
        let left = try (Number.value(1) ||| Promise<String, any Error>.pending().promise).wait()
        XCTAssertEqual(left, .left(1))
        let right = try (Number.failure(TestError.one) ||| Promise<String, any Error>.value("a"))
            .wait()
        XCTAssertEqual(right, .right("a"))
        XCTAssertEqual(right.right, "a")
        XCTAssertNil(right.left)
    }

    func testBothBindsTighterThanEither() throws {
        // As a product and a sum: a pair of numbers, or else a word.
        let word = Promise<String, any Error>.value("a")
        let sum = Number.failure(TestError.one) &&& Number.value(2) ||| word
        XCTAssertEqual(try sum.wait(timeout: .seconds(60)).right, "a")
        let other = word ||| Number.value(1) &&& Number.failure(TestError.one)
        XCTAssertEqual(try other.wait(timeout: .seconds(60)).left, "a")
    }

    func testBothIsLeftAssociative() throws {
        let nested: ((Int, Int), Int) =
            try (Number.value(1) &&& Number.value(2) &&& Number.value(3)).wait(
                timeout: .seconds(60))
        XCTAssertEqual([nested.0.0, nested.0.1, nested.1], [1, 2, 3])
    }
}
