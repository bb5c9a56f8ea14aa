// Tests of unwrap.

import Vow
import XCTest

final class UnwrapTests: VowTest {
    private let some = Promise<Int?, any Error>.value(1)
    private let none = Promise<Int?, any Error>.value(nil)
    private let failed = Promise<Int?, any Error>.failure(TestError.one)

    func testNilIsAFailure() throws {
        XCTAssertEqual(try some.unwrap().wait(), 1)
        guard case PromiseError.noSuchElement? = failure(of: none.unwrap()) else {
            return XCTFail("nil passes")
        }
        XCTAssertEqual(failure(of: none.unwrap(orError: TestError.two)) as? TestError, .two)
        XCTAssertEqual(failure(of: failed.unwrap(orError: TestError.two)) as? TestError, .one)
    }

    func testNilIsReplaced() throws {
        XCTAssertEqual(try some.unwrap(orReplace: 2).wait(), 1)
        XCTAssertEqual(try none.unwrap(orReplace: 2).wait(), 2)
        XCTAssertEqual(Promise<Int?, Never>.value(nil).unwrap(orReplace: 3).result?.get(), 3)
    }
}
