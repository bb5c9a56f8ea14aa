// Tests Promise+Finally.swift.

import Vow
import XCTest

final class FinallyTests: VowTest {
    func testItRunsEitherWayAndPassesTheResultOn() throws {
        let calls = Journal<Int>()
        let value = Promise<Int, any Error>.value(1).finally { calls.write(1) }
        XCTAssertEqual(try value.wait(), 1)
        let failed = Promise<Int, any Error>.failure(TestError.one).finally { calls.write(2) }
        XCTAssertEqual(failure(of: failed) as? TestError, .one)
        XCTAssertEqual(calls.entries, [1, 2])
    }

    func testWhatItThrowsTakesTheResultsPlace() {
        let thrown = Promise<Int, any Error>.value(1).finally { throw TestError.two }
        XCTAssertEqual(failure(of: thrown) as? TestError, .two)
        let both = Promise<Int, any Error>.failure(TestError.one).finally { throw TestError.three }
        XCTAssertEqual(failure(of: both) as? TestError, .three)
    }

    func testAPromiseThatItReturnsIsWaitedFor() throws {
        let (slow, resolver) = Promise<String, any Error>.pending()
        let end = Promise<Int, any Error>.value(1).finally(on: .inline) { slow }
        XCTAssertTrue(end.isPending)
        resolver.fulfill("ignored")
        XCTAssertEqual(try end.wait(), 1)
        let failed = Promise<Int, any Error>.value(1)
            .finally { Promise<Void, any Error>.failure(TestError.two) }
        XCTAssertEqual(failure(of: failed) as? TestError, .two)
    }

    func testOfAPromiseThatCannotFailItCannotThrow() throws {
        let calls = Journal<Int>()
        XCTAssertEqual(try Guarantee.value(4).finally { calls.write(1) }.wait(), 4)
        XCTAssertEqual(calls.entries, [1])
    }
}
