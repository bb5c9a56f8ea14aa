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
}
