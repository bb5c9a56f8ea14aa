// Tests of Promise.map: a function for each of many items.

import Synchronization
import Vow
import XCTest

final class MapItemsTests: VowTest {
    /// Items that are counted as they are made.
    private func counted(_ count: Int, _ pulled: Journal<Int>) -> some Sequence<Int> {
        sequence(first: 0) { number in
            pulled.write(number)
            return number + 1 < count ? number + 1 : nil
        }
    }

    func testASequenceIsAskedForWhatThereIsRoomFor() {
        let pulled = Journal<Int>()
        let all = Promise<[Int], any Error>.map(
            counted(100_000, pulled), concurrency: 2, on: .inline
        ) { number throws -> Int in
            if number == 3 { throw TestError.one }
            return number
        }
        XCTAssertEqual(failure(of: all) as? TestError, .one)
        XCTAssertLessThan(pulled.entries.count, 7)
    }

    func testASequenceOfAnyLengthGivesItsResultsInOrder() throws {
        let pulled = Journal<Int>()
        let all = Promise<[Int], any Error>.map(counted(3000, pulled), concurrency: 4) { $0 * 2 }
        XCTAssertEqual(try all.wait(), (0..<3000).map { $0 * 2 })
        XCTAssertEqual(pulled.entries, Array(0..<3000))
    }

    func testCancellingAMapOverASequenceAsksForNoMore() {
        let pulled = Journal<Int>()
        let all = Promise<[Int], any Error>.map(counted(100, pulled), concurrency: 3) { _ in
            Promise<Void, any Error>.delay(.seconds(1000)).map { 1 }
        }
        eventually("three are under way") { pulled.entries.count >= 2 }
        all.cancel()
        XCTAssertTrue(failure(of: all) is CancellationError)
        XCTAssertLessThan(pulled.entries.count, 5)
    }

    func testTheResultsStandInTheOrderOfTheItems() throws {
        let members = PendingMembers(3, of: String.self)
        let promises = members.promises
        let all = Promise.map(0..<3, on: .inline) { promises[$0] }
        for index in [2, 0, 1] { members.resolvers[index].fulfill("\(index)") }
        XCTAssertEqual(try all.wait(), ["0", "1", "2"])
    }

    func testOfNoItemsItIsAnEmptyArray() throws {
        XCTAssertEqual(try Promise.map([Int]()) { $0 + 1 }.wait(), [])
    }

    func testPlainValuesAreResults() throws {
        XCTAssertEqual(try Promise.map(["a", "b"]) { $0 + "!" }.wait(), ["a!", "b!"])
    }

    func testClosuresOfAllShapesAreTaken() throws {
        let lines = Promise.map([1, 2]) { item in
            let more = item + 1
            return more * 2
        }
        XCTAssertEqual(try lines.wait(), [4, 6])
        let throwing = Promise.map([1, 2]) { item in
            if item < 0 { throw TestError.one }
            return "\(item)"
        }
        XCTAssertEqual(try throwing.wait(), ["1", "2"])
        let promised = Promise.map([1, 2]) { item in
            if item < 0 { throw TestError.one }
            return Promise.value(item)
        }
        XCTAssertEqual(try promised.wait(), [1, 2])
        XCTAssertEqual(try Promise.map(["a"]) { later($0).map { $0 } }.wait(), ["a"])
        XCTAssertEqual(try Promise.map(["a"], on: .pool) { later($0) }.wait(), ["a"])
    }

    func testWithoutABoundAllItemsAreBegunTogether() {
        let begun = Journal<Int>()
        let members = PendingMembers(4, of: Int.self)
        let promises = members.promises
        let all = Promise.map(0..<4, on: .inline) { index in
            begun.write(index)
            return promises[index]
        }
        XCTAssertEqual(begun.entries, [0, 1, 2, 3])
        all.cancel()
    }

    func testNoMoreThanSoManyItemsAreUnderWay() throws {
        let begun = Journal<Int>()
        let members = PendingMembers(5, of: Int.self)
        let promises = members.promises
        let all = Promise.map(0..<5, concurrency: 2, on: .inline) { index in
            begun.write(index)
            return promises[index]
        }
        XCTAssertEqual(begun.entries, [0, 1])
        members.resolvers[1].fulfill(1)
        XCTAssertEqual(begun.entries, [0, 1, 2])
        for index in [0, 2, 3, 4] { members.resolvers[index].fulfill(index) }
        XCTAssertEqual(try all.wait(), [0, 1, 2, 3, 4])
    }

    func testABoundOfNoneIsRefused() {
        for bound in [0, -1] {
            let all = Promise<[Int], any Error>.map([1], concurrency: bound) { $0 }
            guard case PromiseError.invalidArgument? = failure(of: all) else {
                return XCTFail("a bound of \(bound) was taken")
            }
        }
    }

    func testOnThePoolTheBoundHoldsToo() throws {
        let running = Atomic(0)
        let most = Atomic(0)
        let all = Promise<[Int], any Error>.map(0..<200, concurrency: 3, on: .pool) { item in
            let now = running.add(1, ordering: .relaxed).newValue
            _ = most.max(now, ordering: .relaxed)
            running.subtract(1, ordering: .relaxed)
            return item * 2
        }
        XCTAssertEqual(try all.wait(), (0..<200).map { $0 * 2 })
        XCTAssertLessThanOrEqual(most.load(ordering: .relaxed), 3)
    }

    func testAfterAFailureNoItemIsBegunAndWhatIsUnderWayIsCancelled() {
        let begun = Journal<Int>()
        let cancelled = Journal<Int>()
        let failing = Promise<Int, any Error>.pending()
        let all = Promise.map(0..<5, concurrency: 2, on: .inline) { index in
            begun.write(index)
            if index == 0 { return failing.promise }
            let (promise, resolver) = Promise<Int, any Error>.pending()
            resolver.onCancel {
                cancelled.write(index)
                withExtendedLifetime(resolver) {}
            }
            return promise
        }
        failing.resolver.reject(TestError.one)
        XCTAssertEqual(failure(of: all) as? TestError, .one)
        XCTAssertEqual(begun.entries, [0, 1])
        XCTAssertEqual(cancelled.entries, [1])
    }

    func testWhatAFunctionThrowsIsTheFailure() {
        let all = Promise<[Int], any Error>.map([1, 2, 3]) { item in
            if item == 2 { throw TestError.two }
            return item
        }
        XCTAssertEqual(failure(of: all) as? TestError, .two)
    }

    func testCancellingTheWholeCancelsWhatIsUnderWay() {
        let cancelled = Journal<Int>()
        let all = Promise.map(0..<3, concurrency: 2, on: .inline) { index in
            let (promise, resolver) = Promise<Int, any Error>.pending()
            resolver.onCancel {
                cancelled.write(index)
                withExtendedLifetime(resolver) {}
            }
            return promise
        }
        XCTAssertTrue(all.cancel())
        XCTAssertTrue(all.isCancelled)
        XCTAssertEqual(cancelled.entries.sorted(), [0, 1])
    }

    func testWhatTheFunctionCapturesIsFreedWhenItIsOver() throws {
        var tracker: Tracker? = Tracker()
        let all = Promise<[Int], any Error>.map(0..<10) { [tracker] item in
            withExtendedLifetime(tracker) { item }
        }
        tracker = nil
        try all.wait()
        eventually("the closure is freed") { Tracker.living == 0 }
    }

    func testItemsThatAreObjectsAreFreed() throws {
        let all = Promise<[Bool], any Error>.map((0..<10).map { _ in Tracker() }) { item in
            withExtendedLifetime(item) { true }
        }
        XCTAssertEqual(try all.wait().count, 10)
        eventually("the items are freed") { Tracker.living == 0 }
    }

    func testAHundredThousandItemsAHundredAtATime() throws {
        let count = 100_000
        let all = Promise<[Int], any Error>.map(0..<count, concurrency: 100, on: .inline) { $0 }
        XCTAssertEqual(try all.wait(), Array(0..<count))
    }
}

private func later(_ text: String) -> Promise<String, any Error> { .value(text) }
