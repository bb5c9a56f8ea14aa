// Tests of >- and <-, and of what they bind to.

import Vow
import VowOperators
import VowTestSupport
import XCTest

final class ActionOperatorTests: VowTest {
    private let outputs = Journal<String>()

    private func appending(_ text: String) -> Action<String, String> {
        Action { (input: String) in input + text }
    }

    func testComposingGoesFromLeftToRight() throws {
        let all = appending(" Two") >- appending(" Three") >- appending(" Four")
        XCTAssertEqual(try all("One").wait(), "One Two Three Four")
    }

    func testARowNeedsNoParentheses() throws {
        let count = Action<String, Int> { (text: String) in text.count }
        let stars = Action<Int, String> { (number: Int) in String(repeating: "*", count: number) }
        let left: Action<String, Int> = appending("!") >- count
        let grouped: Action<String, String> = left >- stars
        XCTAssertEqual(try grouped("ab").wait(), "***")
        XCTAssertEqual(try (appending("!") >- count >- stars)("ab").wait(), "***")
    }

    func testComposingBindsTighterThanBinding() {
        let outputs = outputs
        let fire = appending("b") >- appending("c") <- { text in outputs.write(text) }
        XCTAssertEqual(outputs.entries, [])
        fire("a")
        eventually("the callback runs") { outputs.entries.count == 1 }
        XCTAssertEqual(outputs.entries, ["abc"])
    }

    func testABoundFunctionIsCalledAnyNumberOfTimes() {
        let outputs = outputs
        let fire = appending("!") <- { text in outputs.write(text) }
        for text in ["a", "b", "c"] { fire(text) }
        eventually("the callbacks run") { outputs.entries.count == 3 }
        XCTAssertEqual(outputs.entries.sorted(), ["a!", "b!", "c!"])
    }

    func testBindingIsTighterThanOperatorsWithoutAPrecedence() {
        // Grouped the other way, a callback would stand left of the operator, and nothing would fit.
        let outputs = outputs
        let callback: @Sendable (String) -> Void = { outputs.write($0) }
        "x" ~~> appending("y") <- callback
        eventually("the callback runs") { outputs.entries.count == 1 }
        XCTAssertEqual(outputs.entries, ["xy"])
    }
}

/// Calls a function, with the precedence of operators that have none.
infix operator ~~> : DefaultPrecedence

private func ~~> (input: String, function: @Sendable (String) -> Void) { function(input) }
