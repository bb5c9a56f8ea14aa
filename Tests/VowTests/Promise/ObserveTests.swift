// Tests Promise+Observe.swift.

import Vow
import XCTest

final class ObserveTests: VowTest {
    private let three = Promise<Int, any Error>.value(3)
    private let failed = Promise<Int, any Error>.failure(TestError.one)

    func testGetLooksAtTheValueAndPassesItOn() throws {
        let calls = Journal<Int>()
        XCTAssertEqual(try three.get { calls.write($0) }.wait(), 3)
        XCTAssertEqual(failure(of: failed.get { calls.write($0) }) as? TestError, .one)
        XCTAssertEqual(calls.entries, [3])
        let thrown = three.get { _ in throw TestError.two }
        XCTAssertEqual(failure(of: thrown) as? TestError, .two)
    }

    func testTapLooksAtTheResultAndPassesItOn() throws {
        let calls = Journal<String>()
        XCTAssertEqual(try three.tap { calls.write("\($0)") }.wait(), 3)
        XCTAssertEqual(failure(of: failed.tap { calls.write("\($0)") }) as? TestError, .one)
        XCTAssertEqual(calls.entries.count, 2)
        XCTAssertTrue(calls.entries[0].contains("success(3)"))
        XCTAssertTrue(calls.entries[1].contains("one"))
    }

    func testObserversReturnThePromiseItself() {
        let calls = Journal<String>()
        let same = three.onSuccess(on: .inline) { calls.write("success \($0)") }
            .onFailure(on: .inline) { calls.write("failure \($0)") }
            .onComplete(on: .inline) { _ in calls.write("complete") }
        XCTAssertEqual(same, three)
        XCTAssertEqual(calls.entries, ["success 3", "complete"])
        failed.onSuccess(on: .inline) { calls.write("success \($0)") }
            .onFailure(on: .inline) { calls.write("failure \($0)") }
        XCTAssertEqual(calls.entries.last, "failure one")
        XCTAssertEqual(calls.entries.count, 3)
    }

    func testATypedObserverIsToldOfItsTypeOnly() {
        struct Other: Error {}
        let calls = Journal<String>()
        failed.onFailure(of: Other.self, on: .inline) { _ in calls.write("other") }
            .onFailure(of: TestError.self, on: .inline) { calls.write("\($0)") }
        XCTAssertEqual(calls.entries, ["one"])
    }

    func testAnObserverOfTheValueLeavesTheFailureUnhandled() {
        let reports = Journal<String>()
        UnhandledRejections.setHandler { reports.write("\($0)") }
        defer { UnhandledRejections.setHandler(nil) }
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            promise.onSuccess(on: .inline) { _ in XCTFail("there is no value") }
            resolver.reject(TestError.two)
        }
        XCTAssertEqual(reports.entries, ["two"])
        do {
            let (promise, resolver) = Promise<Int, any Error>.pending()
            promise.onSuccess(on: .inline) { _ in XCTFail("there is no value") }
                .onFailure(on: .inline) { _ in }
            resolver.reject(TestError.three)
        }
        XCTAssertEqual(reports.entries, ["two"])
    }
}
