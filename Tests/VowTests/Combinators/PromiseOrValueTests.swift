// Tests of PromiseOrValue and of optionals as promises.

import Vow
import XCTest

final class PromiseOrValueTests: VowTest {
    func testAPropertyKeepsItsPromiseUntilTheValueIsThere() throws {
        let (promise, resolver) = Promise<String, any Error>.pending()
        var name = PromiseOrValue.promise(promise)
        name.settle()
        XCTAssertNil(name.value)
        XCTAssertEqual(name.promise, promise)
        resolver.fulfill("n")
        XCTAssertEqual(name.value, "n")
        name.settle()
        guard case .value("n") = name else { return XCTFail("the promise is still there") }
        XCTAssertEqual(try name.promise.wait(), "n")
    }

    func testAFailureStaysAPromise() {
        var name = PromiseOrValue<Int, any Error>.promise(.failure(TestError.one))
        name.settle()
        XCTAssertNil(name.value)
        XCTAssertEqual(failure(of: name.promise) as? TestError, .one)
    }

    func testNothingIsAPromiseOfNothing() throws {
        let nothing: Promise<Int, any Error>? = nil
        XCTAssertEqual(try nothing.promise.wait(), nil)
        let some: Promise<Int, any Error>? = .value(1)
        XCTAssertEqual(try some.promise.wait(), 1)
        XCTAssertEqual(try Promise.all([some, nothing]).wait(), [1, nil])
    }
}
