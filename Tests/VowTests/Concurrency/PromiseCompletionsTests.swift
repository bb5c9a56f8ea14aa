// Tests of promises as an asynchronous sequence: their order, and what an early end lets go of.

import Vow
import XCTest

final class PromiseCompletionsTests: VowTest {
    private typealias Pair = (
        promise: Promise<Int, any Error>, resolver: PromiseResolver<Int, any Error>
    )

    private func pairs(_ count: Int) -> [Pair] { (0..<count).map { _ in Promise.pending() } }

    func testResultsComeInTheOrderOfSettling() async {
        let pairs = pairs(3)
        pairs[2].resolver.fulfill(20)
        pairs[0].resolver.reject(TestError.one)
        pairs[1].resolver.fulfill(10)
        var seen: [String] = []
        // They are settled already: the order is that of the promises.
        for await (index, result) in Promise.completions(of: pairs.map(\.promise)) {
            seen.append("\(index) \((try? result.get()) ?? -1)")
        }
        XCTAssertEqual(seen, ["0 -1", "1 10", "2 20"])
    }

    func testResultsThatComeWhileItIsReadComeInTheirOrder() async {
        let pairs = pairs(4)
        var seen: [Int] = []
        var order = [2, 0, 3, 1]
        var iterator = pairs.map(\.promise).completions.makeAsyncIterator()
        pairs[order.removeFirst()].resolver.fulfill(0)
        while let (index, _) = await iterator.next() {
            seen.append(index)
            if order.isEmpty { continue }
            pairs[order.removeFirst()].resolver.fulfill(0)
        }
        XCTAssertEqual(seen, [2, 0, 3, 1])
    }

    func testATaskThatWaitsIsWokenByTheNextOne() async {
        let pairs = pairs(2)
        let promises = pairs.map(\.promise)
        let task = Task {
            var seen: [Int] = []
            for await (index, _) in Promise.completions(of: promises) { seen.append(index) }
            return seen
        }
        await Task.yield()
        pairs[1].resolver.fulfill(1)
        pairs[0].resolver.fulfill(0)
        let seen = await task.value
        XCTAssertEqual(Set(seen), [0, 1])
    }

    func testNoPromisesAreNoCompletions() async {
        for await _ in [Promise<Int, Never>]().completions { XCTFail("there is none") }
    }

    func testAnEarlyEndLetsGoOfTheRest() async {
        let told = Journal<Int>()
        var pairs = pairs(3)
        for (index, pair) in pairs.enumerated() { pair.resolver.onCancel { told.write(index) } }
        let resolvers = pairs.map(\.resolver)
        let kept = pairs[2].promise
        let promises = pairs.map(\.promise)
        pairs = []
        resolvers[1].fulfill(1)
        await Self.readOne(of: promises)
        XCTAssertEqual(told.entries, [])  // All are held by `promises` yet.
        await Self.readOne(of: consume promises)
        XCTAssertEqual(told.entries, [0])
        XCTAssert(kept.isPending)
        withExtendedLifetime(resolvers) {}
    }

    private static func readOne(of promises: consuming [Promise<Int, any Error>]) async {
        let completions = Promise.completions(of: consume promises)
        for await (index, _) in completions {
            XCTAssertEqual(index, 1)
            break
        }
    }

    func testCancellingTheTaskEndsTheIteration() async {
        let pairs = pairs(2)
        let promises = pairs.map(\.promise)
        pairs[0].resolver.fulfill(1)
        let (first, gotFirst) = Promise<Void, Never>.pending(orElse: ())
        let task = Task {
            var count = 0
            for await _ in promises.completions {
                count += 1
                gotFirst.fulfill()
            }
            return count
        }
        await first.value
        task.cancel()
        let count = await task.value
        XCTAssertEqual(count, 1)
        XCTAssert(promises[1].isPending)
        withExtendedLifetime(pairs) {}
    }

    func testResultsNobodyReadAreGivenBack() async {
        let before = Tracker.living
        do {
            let promises = (0..<3).map { _ in Promise<Tracker, Never>.value(Tracker()) }
            var iterator = promises.completions.makeAsyncIterator()
            _ = await iterator.next()
        }
        eventually("the values go") { Tracker.living == before }
    }

    func testManySettlingAtOnceAllArriveOnce() async {
        for _ in 0..<200 {
            let pairs = pairs(32)
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: pairs.count) {
                    pairs[$0].resolver.fulfill($0)
                }
            }
            var seen: Set<Int> = []
            for await (index, result) in pairs.map(\.promise).completions {
                XCTAssertEqual(try? result.get(), index)
                XCTAssert(seen.insert(index).inserted)
            }
            XCTAssertEqual(seen.count, 32)
        }
    }

    func testRacesOfAnEndAndSettlingGiveEverythingBack() async {
        let before = Tracker.living
        for round in 0..<500 {
            let pairs = (0..<4).map { _ in Promise<Tracker, any Error>.pending() }
            let promises = pairs.map(\.promise)
            let task = Task {
                var count = 0
                for await (_, result) in promises.completions {
                    if case .failure = result { XCTFail("it was fulfilled") }
                    count += 1
                    if count == round % 4 + 1 { break }
                }
                return count
            }
            if round % 8 != 0 { await Task.yield() }
            DispatchQueue.concurrentPerform(iterations: 5) { side in
                if side == 4 { task.cancel() } else { pairs[side].resolver.fulfill(Tracker()) }
            }
            let count = await task.value
            XCTAssertLessThanOrEqual(count, round % 4 + 1)
        }
        eventually("the values go") { Tracker.living == before }
    }

    func testTasksThatShareAnIterationTakeTurnsAndNoneWaitsForEver() async {
        for _ in 0..<100 {
            let members = PendingMembers(10, of: Int.self)
            let (promises, resolvers) = (members.promises, members.resolvers)
            nonisolated(unsafe) let iterator = promises.completions.makeAsyncIterator()
            let taken = await withTaskGroup(of: [Int].self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var mine = iterator
                        var places: [Int] = []
                        while let (place, _) = await mine.next() { places.append(place) }
                        return places
                    }
                }
                await Task.yield()
                for (number, resolver) in resolvers.enumerated() { resolver.fulfill(number) }
                return await group.reduce(into: []) { $0 += $1 }
            }
            XCTAssertEqual(taken.sorted(), Array(0..<10))
        }
    }
}
