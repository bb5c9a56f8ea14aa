// Tests of >- and <-, and of what they bind to.

import Synchronization
import Vow
import VowOperators
import XCTest

final class ActionOperatorTests: XCTestCase {
    private let outputs = Outputs()

    /// What callbacks were given, from any thread.
    private final class Outputs: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private func appending(_ text: String) -> Action<String, String> {
        Action { (input: String) in input + text }
    }

    private func wait(for count: Int) {
        let end = ContinuousClock.now + .seconds(10)
        while outputs.all.count < count && ContinuousClock.now < end { usleep(200) }
    }

    func testComposingGoesFromLeftToRight() throws {
        let all = appending(" Two") >- appending(" Three") >- appending(" Four")
        XCTAssertEqual(try all("One").wait(), "One Two Three Four")
    }

    func testComposingIsLeftAssociative() throws {
        // Only grouped from the left do the types fit: a number comes out in the middle.
        let count = Action<String, Int> { (text: String) in text.count }
        let stars = Action<Int, String> { (number: Int) in String(repeating: "*", count: number) }
        let left: Action<String, Int> = appending("!") >- count
        let grouped: Action<String, String> = left >- stars
        XCTAssertEqual(try grouped("ab").wait(), "***")
        XCTAssertEqual(try (appending("!") >- count >- stars)("ab").wait(), "***")
    }

    func testComposingBindsTighterThanBinding() {
        let outputs = outputs
        let fire = appending("b") >- appending("c") <- { text in outputs.add(text) }
        XCTAssertEqual(outputs.all, [])
        fire("a")
        wait(for: 1)
        XCTAssertEqual(outputs.all, ["abc"])
    }

    func testABoundFunctionIsCalledAnyNumberOfTimes() {
        let outputs = outputs
        let fire = appending("!") <- { text in outputs.add(text) }
        for text in ["a", "b", "c"] { fire(text) }
        wait(for: 3)
        XCTAssertEqual(outputs.all.sorted(), ["a!", "b!", "c!"])
    }

    func testBindingIsTighterThanOperatorsWithoutAPrecedence() {
        // Grouped the other way, a callback would stand left of the operator, and nothing would fit.
        let outputs = outputs
        let callback: @Sendable (String) -> Void = { outputs.add($0) }
        "x" ~~> appending("y") <- callback
        wait(for: 1)
        XCTAssertEqual(outputs.all, ["xy"])
    }
}

/// Calls a function, with the precedence of operators that have none.
infix operator ~~> : DefaultPrecedence

private func ~~> (input: String, function: @Sendable (String) -> Void) { function(input) }
