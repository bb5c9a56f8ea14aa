// Tests that failures come back as they were, whichever type the promise says it has.

import Vow
import XCTest

final class FailureTypeTests: VowTest {
    func testATypedFailureIsReadAsItWas() {
        let typed = Promise<Int, TestError>.failure(.two)
        XCTAssertEqual(typed.error, .two)
        XCTAssertEqual(failure(of: typed) as? TestError, .two)
    }

    func testATypedHandlerIsGivenTheFailure() throws {
        let caught = Journal<TestError>()
        let recovered = Promise<Int, TestError>.failure(.two).recover { error -> Int in
            caught.write(error)
            return 1
        }
        XCTAssertEqual(try recovered.wait(), 1)
        XCTAssertEqual(caught.entries, [.two])
    }

    func testATypedFailureIsTheSameWithoutItsType() {
        let erased = Promise<Int, TestError>.failure(.two).eraseFailure()
        XCTAssertEqual(failure(of: erased) as? TestError, .two)
    }
}
