// Tests of what older libraries call `then`.

import VowPromiseKit
import VowTestSupport
import XCTest

final class ThenTests: VowTest {
    private let three = Promise<Int>.value(3)
    private let failed = Promise<Int>.failure(TestError.one)

    func testThenTakesAClosureThatReturnsAValue() throws {
        XCTAssertEqual(try three.then { $0 + 1 }.wait(), 4)
        XCTAssertEqual(try three.then { Promise<Int>.value($0 + 1) }.wait(), 4)
        XCTAssertEqual(try three.flatMap { Guarantee<Int>.value($0 + 1) }.wait(), 4)
    }

    func testOneOfTwoClosuresRuns() throws {
        let good = three.then({ "value \($0)" }, rejected: { "failure \($0)" })
        XCTAssertEqual(try good.wait(), "value 3")
        let bad = failed.then({ "value \($0)" }, rejected: { "failure \($0)" })
        XCTAssertEqual(try bad.wait(), "failure one")
    }

    func testWhatTheFirstClosureThrowsDoesNotComeToItsSibling() {
        let calls = Journal<String>()
        let end = three.then(
            { _ -> Int in throw TestError.two },
            rejected: { error -> Int in
                calls.write("\(error)")
                return 0
            })
        XCTAssertEqual(failure(of: end) as? TestError, .two)
        XCTAssertEqual(calls.entries, [])
    }

    @MainActor
    func testOnMainTakesClosuresOfTheMainActor() async throws {
        var title = ""
        let end =
            three
            .map(on: .main) { number in
                title += "map "
                return number + 1
            }
            .then(on: .main) { number in
                title += "then "
                return Guarantee<Int>.value(number)
            }
            .get(on: .main) { title += "get \($0) " }
            .ensure(on: .main) { title += "ensure " }
            .done(on: .main) { _ in throw TestError.two }
            .catch(on: .main) { title += "catch \($0)" }
        await end.value
        XCTAssertEqual(title, "map then get 4 ensure catch two")
    }
}
