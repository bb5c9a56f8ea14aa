// Tests of allSettled.

import Vow
import XCTest

final class AllSettledTests: VowTest {
    func testTheResultsStandInTheOrderOfThePromises() throws {
        let members = PendingMembers(3, of: String.self)
        let all: Promise<[Result<String, any Error>], Never> = .allSettled(members.promises)
        members.resolvers[2].fulfill("c")
        members.resolvers[1].reject(TestError.two)
        XCTAssertTrue(all.isPending)
        members.resolvers[0].fulfill("a")
        let results = try all.wait()
        XCTAssertEqual(try results[0].get(), "a")
        XCTAssertThrowsError(try results[1].get()) { XCTAssertEqual($0 as? TestError, .two) }
        XCTAssertEqual(try results[2].get(), "c")
    }

    func testTypedFailuresStayTyped() throws {
        let members = [Promise<Int, TestError>.value(1), .failure(.one)]
        XCTAssertEqual(
            try Promise.allSettled(members).wait(), [.success(1), .failure(TestError.one)])
    }

    func testOfNoneItIsAnEmptyArray() throws {
        let none: [Promise<Int, TestError>] = []
        XCTAssertEqual(try Promise.allSettled(none).wait(), [])
    }

    func testADictionaryKeepsItsKeys() throws {
        let members = ["a": Promise<Int, TestError>.value(1), "b": .failure(.one)]
        XCTAssertEqual(
            try Promise.allSettled(members).wait(), ["a": .success(1), "b": .failure(.one)])
    }

    func testACancelledMemberIsOneOfTheResults() throws {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.allSettled(members.promises)
        members.promises[0].cancel()
        members.resolvers[1].fulfill(1)
        let results = try all.wait()
        XCTAssertThrowsError(try results[0].get()) { XCTAssertTrue($0 is CancellationError) }
        XCTAssertEqual(try results[1].get(), 1)
    }

    func testAPromiseMayBeThereSeveralTimes() throws {
        let (promise, resolver) = Promise<Int, TestError>.pending()
        let all = Promise.allSettled([promise, promise])
        resolver.reject(.one)
        XCTAssertEqual(try all.wait(), [.failure(.one), .failure(.one)])
    }

    func testAHundredThousandOfWhichHalfFail() throws {
        let count = 100_000
        let members = (0..<count).map { index in
            index % 2 == 0 ? Promise<Int, TestError>.value(index) : .failure(.one)
        }
        let results = try Promise.allSettled(members).wait()
        XCTAssertEqual(results.count, count)
        XCTAssertEqual(results.filter { $0 == .failure(.one) }.count, count / 2)
    }
}
