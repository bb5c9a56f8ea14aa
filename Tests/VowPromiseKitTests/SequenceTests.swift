// Tests of the helpers on promises of sequences.

import VowPromiseKit
import VowTestSupport
import XCTest

final class SequenceTests: VowTest {
    private let numbers = Promise<[Int]>.value([3, 1, 2])
    private let none = Promise<[Int]>.value([])

    func testElementsBecomeOthers() throws {
        XCTAssertEqual(try numbers.mapValues { $0 * 2 }.wait(), [6, 2, 4])
        XCTAssertEqual(try numbers.mapValues { "\($0)" }.wait(), ["3", "1", "2"])
        XCTAssertEqual(
            try numbers.flatMapValues { Array(repeating: $0, count: $0) }.wait(),
            [3, 3, 3, 1, 2, 2])
        XCTAssertEqual(try numbers.compactMapValues { $0 > 1 ? "\($0)" : nil }.wait(), ["3", "2"])
        XCTAssertEqual(try numbers.filterValues { $0 != 1 }.wait(), [3, 2])
        XCTAssertEqual(try numbers.sortedValues().wait(), [1, 2, 3])
    }

    func testOtherSequencesThanArraysDo() throws {
        let range = Promise<ClosedRange<Int>>.value(1...3)
        XCTAssertEqual(try range.mapValues { $0 + 1 }.wait(), [2, 3, 4])
        let keyed = Promise<[String: Int]>.value(["a": 1])
        XCTAssertEqual(try keyed.mapValues { "\($0.key)\($0.value)" }.wait(), ["a1"])
        let text = Promise<String>.value("ba")
        XCTAssertEqual(try text.sortedValues().wait(), ["a", "b"])
    }

    func testWhatAFunctionThrowsIsTheFailure() {
        let failed = [
            numbers.mapValues { try risky($0) },
            numbers.compactMapValues { try risky($0) },
            numbers.flatMapValues { [try risky($0)] },
            numbers.filterValues { try risky($0) == 0 },
            numbers.thenMap { .value(try risky($0)) },
        ]
        for promise in failed { XCTAssertEqual(failure(of: promise) as? TestError, .one) }
    }

    func testAFailureBeforeIsPassedOn() {
        let failed = Promise<[Int]>.failure(TestError.two)
        XCTAssertEqual(failure(of: failed.mapValues { $0 }) as? TestError, .two)
        XCTAssertEqual(failure(of: failed.firstValue) as? TestError, .two)
    }

    func testPromisesOfTheElementsAreWaitedForAllTogether() throws {
        let members = (0..<3).map { _ in Promise<String>.pending() }
        let promises = members.map(\.promise)
        let begun = Journal<Int>()
        let texts = Promise<[Int]>.value([0, 1, 2]).thenMap(on: .inline) { index in
            begun.write(index)
            return promises[index]
        }
        XCTAssertEqual(begun.entries, [0, 1, 2])
        for index in [2, 1, 0] { members[index].resolver.fulfill("\(index)") }
        XCTAssertEqual(try texts.wait(), ["0", "1", "2"])
    }

    func testPromisesOfTheElementsCanBeWaitedForOneByOne() throws {
        let members = (0..<2).map { _ in Promise<Int>.pending() }
        let promises = members.map(\.promise)
        let begun = Journal<Int>()
        let all = Promise<[Int]>.value([0, 1])
            .thenMap(on: .inline, concurrency: 1) { index in
                begun.write(index)
                return promises[index]
            }
        XCTAssertEqual(begun.entries, [0])
        members[0].resolver.fulfill(5)
        XCTAssertEqual(begun.entries, [0, 1])
        members[1].resolver.fulfill(6)
        XCTAssertEqual(try all.wait(), [5, 6])
    }

    func testPromisesOfSequencesAreJoined() throws {
        let joined = numbers.thenFlatMap { Promise.value([$0, -$0]) }
        XCTAssertEqual(try joined.wait(), [3, -3, 1, -1, 2, -2])
    }

    func testTheFirstAndTheLastElement() throws {
        XCTAssertEqual(try numbers.firstValue.wait(), 3)
        XCTAssertEqual(try numbers.firstValue { $0 < 3 }.wait(), 1)
        XCTAssertEqual(try numbers.lastValue.wait(), 2)
    }

    func testWithoutOneItIsSaid() {
        let missing = [none.firstValue, none.lastValue, numbers.firstValue { $0 > 5 }]
        for promise in missing {
            guard case PromiseError.noSuchElement? = failure(of: promise) else {
                return XCTFail("\(promise) has an element")
            }
        }
    }
}

private func risky(_ number: Int) throws -> Int {
    if number == 1 { throw TestError.one }
    return number
}
