// Tests Promise+Recover.swift.

import Vow
import XCTest

final class RecoverTests: VowTest {
    private let failed = Promise<Int, any Error>.failure(TestError.one)
    private let three = Promise<Int, any Error>.value(3)

    func testAFailureBecomesAValue() throws {
        XCTAssertEqual(try failed.recover { _ in 7 }.wait(), 7)
        XCTAssertEqual(try failed.recover { _ in .value(8) }.wait(), 8)
        XCTAssertEqual(try failed.recover(with: 9).wait(), 9)
    }

    func testAValuePassesByARecovery() throws {
        XCTAssertEqual(try three.recover { _ in 7 }.wait(), 3)
        XCTAssertEqual(try three.recover { _ in .value(7) }.wait(), 3)
        XCTAssertEqual(try three.recover(from: TestError.self) { _ in 7 }.wait(), 3)
    }

    func testARecoveryMayFailAgain() {
        let again = failed.recover { _ in throw TestError.two }
        XCTAssertEqual(failure(of: again) as? TestError, .two)
        let later = failed.recover { _ in .failure(TestError.three) }
        XCTAssertEqual(failure(of: later) as? TestError, .three)
    }

    func testATypedRecoveryTakesOnlyItsType() throws {
        struct Other: Error {}
        XCTAssertEqual(try failed.recover(from: TestError.self) { _ in 7 }.wait(), 7)
        let passed = failed.recover(from: Other.self) { _ in 7 }
        XCTAssertEqual(failure(of: passed) as? TestError, .one)
        XCTAssertEqual(try passed.recover(from: TestError.self) { _ in 8 }.wait(), 8)
        let withPromise = failed.recover(from: TestError.self) { _ in Guarantee.value(9) }
        XCTAssertEqual(try withPromise.wait(), 9)
    }

    func testARecoveryFromOneErrorLetsItsSiblingsPass() throws {
        XCTAssertEqual(try failed.recover(from: TestError.one) { _ in 1 }.wait(), 1)
        let passed = failed.recover(from: TestError.two) { _ in 2 }
        XCTAssertEqual(failure(of: passed) as? TestError, .one)
    }

    func testAPromiseThatRecoversFromEverythingCannotFail() throws {
        let sure: Guarantee<Int> = failed.recover { _ in 5 }
        XCTAssertEqual(try sure.map { $0 + 1 }.wait(), 6)
    }
}
