// Tests that depth takes no stack: chains and recursion of a million promises return, and are freed.

import Vow
import XCTest

final class DepthTests: VowTest {
    private let count = 1_000_000

    func testAMillionMapsOneAfterTheOther() throws {
        let (first, resolver) = Promise<Int, any Error>.pending()
        var last = first
        for _ in 0..<count { last = last.map(on: .inline) { $0 + 1 } }
        resolver.fulfill(0)
        XCTAssertEqual(try last.wait(), count)
    }

    func testAMillionMapsThatAreGivenUpAreFreed() {
        let (first, resolver) = Promise<Int, any Error>.pending()
        var last = first
        for _ in 0..<count { last = last.map(on: .inline) { $0 + 1 } }
        XCTAssertTrue(last.cancel())
        withExtendedLifetime(resolver) {}
    }

    func testARecursionOfAMillionPromises() throws {
        XCTAssertEqual(try countDown(from: count).wait(), "through")
    }
}

private func countDown(from number: Int) -> Promise<String, any Error> {
    Promise<Int, any Error>.value(number - 1).then { rest in
        if rest == 0 { return .value("through") }
        return countDown(from: rest)
    }
}
