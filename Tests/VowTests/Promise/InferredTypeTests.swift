// Tests that a closure which makes promises never gives a promise of promises, also where no type is written down.

import Dispatch
import Vow
import XCTest

private func fetch(_ path: String) -> Promise<String, any Error> { .value(path) }

final class InferredTypeTests: VowTest {
    /// The values are compared, so that anything else than a promise of strings would not compile.
    func testPromisesThatClosuresMakeAreFollowed() throws {
        let attempted = Promise.attempt { fetch("a") }
        XCTAssertEqual(try attempted.wait(), "a")
        let begun = firstly { fetch("b") }
        XCTAssertEqual(try begun.wait(), "b")
        let retried = Promise.retry { attempt in fetch("c\(attempt)") }
        XCTAssertEqual(try retried.wait(), "c1")
        let mapped = Promise.map(["d", "e"]) { fetch($0) }
        XCTAssertEqual(try mapped.wait(), ["d", "e"])
        let started = Promise(on: .pool) { fetch("f") }
        XCTAssertEqual(try started.wait(), "f")
        let queued = DispatchQueue.global().promise { fetch("g") }
        XCTAssertEqual(try queued.wait(), "g")
        let action = Action { (path: String) in fetch(path) }
        XCTAssertEqual(try action("h").wait(), "h")
    }

    func testValuesThatClosuresMakeAreTheValues() throws {
        let attempted = Promise.attempt { 1 }
        XCTAssertEqual(try attempted.wait(), 1)
        let retried = Promise.retry { attempt in attempt }
        XCTAssertEqual(try retried.wait(), 1)
        let mapped = Promise.map(["a", "bc"]) { $0.count }
        XCTAssertEqual(try mapped.wait(), [1, 2])
        let action = Action { (path: String) in path.count }
        XCTAssertEqual(try action("abc").wait(), 3)
    }

    /// A closure that does not throw says nothing about the failure, which is that of the promises.
    func testTheFailureIsThatOfThePromises() throws {
        let numbers = [1, 2, 3].map { Promise<Int, any Error>.value($0) }
        XCTAssertEqual(try Promise.reduce([numbers[0], numbers[1]], 0) { $0 + $1 }.wait(), 3)
        XCTAssertEqual(try Promise.find(in: [numbers[0], numbers[1]]) { $0 > 1 }.wait(), 2)
        XCTAssertEqual(try Promise.reduce(numbers, 0) { $0 + $1 }.wait(), 6)
        XCTAssertEqual(
            try Promise.reduce(numbers, into: [Int]()) { $0.append($1) }.wait(), [1, 2, 3])
        let followed = Promise.reduce(numbers, "") { text, number in fetch("\(text)\(number)") }
        XCTAssertEqual(try followed.wait(), "123")
        XCTAssertEqual(try Promise.find(in: numbers) { $0 > 1 }.wait(), 2)
        let typed = [Promise<Int, TestError>.value(1), .failure(.two)]
        XCTAssertEqual(Promise.reduce(typed, 0) { $0 + $1 }.settled(), .failure(.two))
        XCTAssertEqual(Promise.find(in: typed) { $0 > 1 }.settled(), .failure(.two))
        let thrown = Promise.reduce(numbers, 0) { sum, number in
            if number == 2 { throw TestError.one }
            return sum + number
        }
        XCTAssertEqual(failure(of: thrown) as? TestError, .one)
    }
}

extension Promise {
    fileprivate func settled() -> Result<Success, Failure>? {
        _ = try? wait()
        return result
    }
}
