// Tests that depth takes no stack: chains and recursion of very many promises return, and are freed.

import Vow
import VowTestSupport
import XCTest

final class DepthTests: VowTest {
    private let count = manyOf(100_000, full: 1_000_000)

    func testVeryManyMapsOneAfterTheOther() throws {
        let (first, resolver) = Promise<Int, any Error>.pending()
        var last = first
        for _ in 0..<count { last = last.map(on: .inline) { $0 + 1 } }
        resolver.fulfill(0)
        XCTAssertEqual(try last.wait(), count)
    }

    func testVeryManyMapsThatAreGivenUpAreFreed() {
        let (first, resolver) = Promise<Int, any Error>.pending()
        var last = first
        for _ in 0..<count { last = last.map(on: .inline) { $0 + 1 } }
        XCTAssertTrue(last.cancel())
        withExtendedLifetime(resolver) {}
    }

    func testARecursionOfVeryManyPromises() throws {
        XCTAssertEqual(try countDown(from: count).wait(), "through")
    }
}

private func countDown(from number: Int) -> Promise<String, any Error> {
    Promise<Int, any Error>.value(number - 1).then { rest -> Promise<String, any Error> in
        if rest == 0 { return .value("through") }
        return countDown(from: rest)
    }
}
