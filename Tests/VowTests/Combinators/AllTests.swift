// Tests of all, zip and paired.

import Dispatch
import Vow
import VowTestSupport
import XCTest

final class AllTests: VowTest {
    func testTheValuesStandInTheOrderOfThePromisesAndNotOfTheirSettling() throws {
        let members = PendingMembers(3, of: String.self)
        let all = Promise.all(members.promises)
        for index in [2, 0] { members.resolvers[index].fulfill("\(index)") }
        XCTAssertTrue(all.isPending)
        members.resolvers[1].fulfill("1")
        XCTAssertEqual(try all.wait(), ["0", "1", "2"])
    }

    func testOfNoneItIsAnEmptyArray() throws {
        let none: [Promise<Int, any Error>] = []
        XCTAssertEqual(try Promise.all(none).wait(), [])
        let keyless: [String: Promise<Int, Never>] = [:]
        XCTAssertEqual(try Promise.all(keyless).wait(), [:])
    }

    func testASequenceIsReadOnce() throws {
        var rest = 5
        let once = AnyIterator<Promise<Int, any Error>> {
            if rest == 0 { return nil }
            rest -= 1
            return .value(rest)
        }
        XCTAssertEqual(try Promise.all(once).wait(), [4, 3, 2, 1, 0])
    }

    func testTheFirstFailureIsTheWholesAsItIs() {
        let members = PendingMembers(3, of: Int.self)
        let all = Promise.all(members.promises)
        members.resolvers[0].fulfill(1)
        members.resolvers[2].reject(TestError.two)
        XCTAssertEqual(all.error as? TestError, .two)
        members.resolvers[1].reject(TestError.one)
        XCTAssertEqual(all.error as? TestError, .two)
    }

    func testAFailureLetsGoOfTheOthersAndCancelsThoseThatNobodyElseWants() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(3, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let kept = members!.promises[2]
        let all = Promise.all(members!.promises)
        members = nil
        resolvers[0].reject(TestError.one)
        XCTAssertEqual(all.error as? TestError, .one)
        XCTAssertEqual(cancelled.entries, [1])
        XCTAssertTrue(kept.isPending)
        resolvers[2].fulfill(2)
        XCTAssertEqual(kept.settledValue, 2)
    }

    func testCancellingTheWholeCancelsItsMembers() {
        let cancelled = Journal<Int>()
        var members: PendingMembers? = PendingMembers(2, of: Int.self)
        members?.noteCancelled(in: cancelled)
        let resolvers = members!.resolvers
        let (all, keyed) = (
            Promise.all(members!.promises), Promise.all(["k": members!.promises[1]])
        )
        members = nil
        XCTAssertTrue(all.cancel())
        XCTAssertTrue(all.isCancelled)
        XCTAssertEqual(cancelled.entries, [0])
        XCTAssertTrue(keyed.cancel())
        XCTAssertEqual(cancelled.entries, [0, 1])
        withExtendedLifetime(resolvers) {}
    }

    func testACancelledMemberCancelsTheWhole() {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.all(members.promises)
        members.promises[1].cancel()
        XCTAssertTrue(all.isCancelled)
    }

    func testAPromiseMayBeThereSeveralTimes() throws {
        let (promise, resolver) = Promise<String, any Error>.pending()
        let all = Promise.all([promise, promise, .value("b"), promise])
        resolver.fulfill("a")
        XCTAssertEqual(try all.wait(), ["a", "a", "b", "a"])
    }

    func testVeryManyPromises() throws {
        let count = manyOf(100_000, full: 1_000_000)
        let all = Promise.all((0..<count).lazy.map { Promise<Int, any Error>.value($0) })
        XCTAssertEqual(try all.wait(), Array(0..<count))
    }

    func testADictionaryKeepsItsKeys() throws {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.all(["a": members.promises[0], "b": members.promises[1]])
        members.resolvers[1].fulfill(2)
        members.resolvers[0].fulfill(1)
        XCTAssertEqual(try all.wait(), ["a": 1, "b": 2])
    }

    func testADictionaryFailsAsAnArrayDoes() {
        let members = PendingMembers(2, of: Int.self)
        let all = Promise.all(["a": members.promises[0], "b": members.promises[1]])
        members.resolvers[1].reject(TestError.one)
        XCTAssertEqual(all.error as? TestError, .one)
    }

    func testPromisesOfDifferentTypesGiveAFlatTuple() throws {
        let (slow, resolver) = Promise<String, any Error>.pending()
        let all = Promise.all(
            Promise.value(1), slow, Promise.value([2.5]), Promise<Void, any Error>.value)
        let text = all.map { number, text, list, _ in "\(number) \(text) \(list)" }
        resolver.fulfill("two")
        XCTAssertEqual(try text.wait(), "1 two [2.5]")
        let (number, two, list, _) = try all.wait()
        XCTAssertEqual("\(number) \(two) \(list)", "1 two [2.5]")
    }

    func testPlainValuesMayStandInATuple() throws {
        let user = Promise<String, any Error>.value("u")
        let text = Promise.all(user, .value(5), .value([1])).map { "\($0)\($1)\($2)" }
        XCTAssertEqual(try text.wait(), "u5[1]")
    }

    func testATupleFailsWithTheFirstFailure() {
        let first = Promise<Int, any Error>.pending()
        let second = Promise<String, any Error>.pending()
        let both = first.promise.zip(with: second.promise)
        second.resolver.reject(TestError.two)
        first.resolver.reject(TestError.one)
        XCTAssertEqual(both.error as? TestError, .two)
    }

    func testThreeThatWereBegunTogetherAreCombined() throws {
        let begun = Journal<Int>()
        let members = PendingMembers(3, of: Int.self)
        let three = members.promises.enumerated().map { index, promise in
            begun.write(index)
            return promise.map(on: .inline) { $0 + 1 }
        }
        let sum = Promise.all(three[0], three[1], three[2]).map { $0 + $1 + $2 }
        XCTAssertEqual(begun.entries, [0, 1, 2])
        for index in 0..<3 { members.resolvers[index].fulfill(index) }
        XCTAssertEqual(try sum.wait(), 6)
    }

    func testIntermediateValuesAreCarriedInTuples() throws {
        let name = Promise<String, any Error>.value("ab")
        let pair = name.then { name in
            Promise<Int, any Error>.value(name.count).paired(with: name)
        }
        let (count, text) = try pair.wait()
        XCTAssertEqual("\(count) \(text)", "2 ab")
    }

    func testAPairWithAPlainValuePassesTheFailureOn() {
        let failed = Promise<Int, any Error>.failure(TestError.one).paired(with: "x")
        XCTAssertEqual(failure(of: failed) as? TestError, .one)
    }

    func testTypedFailuresStayTyped() throws {
        let all: Promise<[Int], TestError> = .all([.value(1), .failure(.two)])
        let caught: Promise<TestError?, Never> = all.map { _ in TestError?.none }.recover { $0 }
        XCTAssertEqual(try caught.wait(), .two)
        let sure: Promise<(Int, Int), Never> = .all(.value(1), .value(2))
        XCTAssertEqual(try sure.map { $0 + $1 }.wait(), 3)
    }

    func testValuesAndPromisesMixed() throws {
        let (promise, resolver) = Promise<Int, any Error>.pending()
        let mixed: [PromiseOrValue<Int, any Error>] = [.value(1), .promise(promise), .value(3)]
        let all = Promise.all(mixed)
        resolver.fulfill(2)
        XCTAssertEqual(try all.wait(), [1, 2, 3])
    }

    func testMembersThatAreSettledByManyThreadsAtOnceAreAllCounted() throws {
        let members = PendingMembers(2_000, of: Int.self)
        let all = Promise.all(members.promises)
        let resolvers = members.resolvers
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for index in stride(from: thread, to: resolvers.count, by: 8) {
                resolvers[index].fulfill(index)
            }
        }
        XCTAssertEqual(try all.wait(), Array(0..<2_000))
    }

    func testNamesOfFunctionsGoWithEveryCombinator() throws {
        let numbers = Promise.all([Promise<Int, any Error>.value(1), .value(2)])
        XCTAssertEqual(try numbers.map(total).wait(), 3)
        XCTAssertEqual(try numbers.then(laterTotal).wait(), 3)
        XCTAssertEqual(try Promise.map([1, 2], doubled).wait(), [2, 4])
        XCTAssertEqual(try Promise.map([1, 2], laterDoubled).wait(), [2, 4])
        let members = [Promise<Int, any Error>.value(1), .value(2)]
        XCTAssertEqual(try Promise.reduce(members, 0, sum).wait(), 3)
    }
}

private func total(_ numbers: [Int]) -> Int { numbers.reduce(0, +) }
private func laterTotal(_ numbers: [Int]) -> Promise<Int, any Error> { .value(total(numbers)) }
private func doubled(_ number: Int) throws -> Int { number * 2 }
private func laterDoubled(_ number: Int) throws -> Promise<Int, any Error> { .value(number * 2) }
private func sum(_ left: Int, _ right: Int) throws -> Int { left + right }
